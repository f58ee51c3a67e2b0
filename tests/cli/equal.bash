# equal COMMAND A B: it prints the same of both, and something. (A command
# whose output goes into <(...) may fail unseen.)
equal() {
    local a b
    a=$("$1" "$2")
    b=$("$1" "$3")
    [ -n "$a" ]
    diff <(echo "$a") <(echo "$b")
}
