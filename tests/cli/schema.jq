# The part of JSON Schema that `cellrun schema` uses: the places of $config
# that do not hold, one per line; nothing where it is valid.
#   jq -r --slurpfile config c.json -f schema.jq schema.json
. as $root |
def typed($v): {object: "object", array: "array", string: "string",
                boolean: "boolean", null: "null"}[$v | type] //
               (if $v == ($v | floor) then "integer" else "number" end);
def is($v; $t): typed($v) as $is |
    ($t | if type == "array" then . else [.] end) |
    any(.[]; . == $is or (. == "number" and $is == "integer"));
def bad($s; $v; $at):
    if $s == true then empty elif $s == false then "\($at): not allowed" else
    (if $s | has("$ref") then
        bad($root["$defs"][$s["$ref"] | ltrimstr("#/$defs/")]; $v; $at)
     else empty end),
    (if $s | has("type") then
        if is($v; $s.type) then empty else "\($at): type" end
     else empty end),
    (if $s | has("enum") then
        if any($s.enum[]; . == $v) then empty else "\($at): enum" end
     else empty end),
    (if $s | has("anyOf") then
        if any($s.anyOf[]; [limit(1; bad(.; $v; $at))] == []) then empty
        else "\($at): none of anyOf" end
     else empty end),
    (if $s | has("not") then
        if [limit(1; bad($s.not; $v; $at))] == [] then "\($at): not"
        else empty end
     else empty end),
    if $v | type == "string" then
        if $s.pattern and ($v | test($s.pattern) | not)
        then "\($at): pattern" else empty end
    elif $v | type == "number" then
        if ($s.minimum != null and $v < $s.minimum) or
           ($s.maximum != null and $v > $s.maximum) or
           ($s.exclusiveMinimum != null and $v <= $s.exclusiveMinimum)
        then "\($at): range" else empty end
    elif $v | type == "array" then
        if $s.items then
            range($v | length) as $i | bad($s.items; $v[$i]; "\($at)/\($i)")
        else empty end
    elif $v | type == "object" then
        (if ($v | length) < ($s.minProperties // 0) then "\($at): few"
         else empty end),
        (($s.required // [])[] as $k |
         if $v | has($k) then empty else "\($at): no \($k)" end),
        ($v | keys_unsorted[] as $k |
         (if $s.propertyNames then
             bad($s.propertyNames; $k; "\($at)/\($k)")
          else empty end),
         (if ($s.properties // {}) | has($k) then
             bad($s.properties[$k]; $v[$k]; "\($at)/\($k)")
          else empty end),
         (($s.patternProperties // {}) | to_entries[] as $p |
          if $k | test($p.key) then bad($p.value; $v[$k]; "\($at)/\($k)")
          else empty end),
         (if ($s | has("additionalProperties")) and
             ((($s.properties // {}) | has($k)) or
              any(($s.patternProperties // {}) | keys[]; . as $p | $k | test($p)) | not)
          then bad($s.additionalProperties; $v[$k]; "\($at)/\($k)")
          else empty end))
    else empty end
    end;
bad($root | del(.["$defs"]); $config[0]; "")
