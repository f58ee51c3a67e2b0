# cellrun: build, test, install. `make help` lists the targets.
#
# Variants build side by side and mix nothing:
#   SANITIZE=address,undefined   REAL=double   BUILD=folder

# What `make packages` installs (Debian's names), and what .ci/run needs more.
PACKAGES := gcc libc6-dev make pkg-config libyaml-dev zlib1g-dev libpng-dev \
            libjpeg-dev libjansson-dev libprotobuf-c-dev libopenblas-dev \
            libdnnl-dev librsvg2-2 bats jq mandoc perl unzip
PACKAGES_CI := strace valgrind libc6-dbg clang libclang-rt-14-dev \
               python3-jsonschema python3-yaml shellcheck parallel openmpi-bin \
               libopenmpi-dev mpich libmpich-dev

comma   := ,
variant := $(subst $(comma),-,$(SANITIZE))$(if $(REAL),-$(REAL))
BUILD   := build/$(or $(patsubst -%,%,$(variant)),plain)

CFLAGS  ?= -O2 -g
V       ?= # V=1 shows the commands
Q        = $(if $(strip $(V)),,@echo '  $(1)'; )
INSTALL ?= install
prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
mandir  ?= $(prefix)/share/man
libdir  ?= $(prefix)/lib
datadir ?= $(prefix)/share
includedir ?= $(prefix)/include
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)

# As many compilers as there are cores, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif

# Libraries met at link time. OpenBLAS, oneDNN and librsvg are opened at first
# need.
# pkg-config is asked when it is first wanted: `make packages` may bring it.
libs    := yaml-0.1 zlib libpng libjpeg jansson libprotobuf-c
LDLIBS  ?= $(eval LDLIBS := $$(shell pkg-config --libs $(libs)) \
             -lm -lpthread -ldl)$(LDLIBS)
libs_cflags = $(eval libs_cflags := $$(shell pkg-config --cflags \
             $(libs)))$(libs_cflags)

# Products and sums stay apart unless a kernel fuses them by intrinsic, so
# that every compiler and option gives the same bytes. Nobody here reads what
# arithmetic leaves in errno or in the flags of the processor; told so, the
# compiler makes vectors of loops with a choice or a root in them.
ours = -std=c17 -D_GNU_SOURCE -Isrc -Wall -Wextra -Wpedantic -Wshadow \
       -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
       -Werror=implicit-function-declaration -ffp-contract=off \
       -fopenmp-simd -fno-math-errno -fno-trapping-math \
       -fPIC -fno-semantic-interposition \
       $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
         -fno-omit-frame-pointer) \
       $(if $(FUZZER),-fsanitize=fuzzer-no-link) \
       $(if $(findstring clang,$(CC)),-Wno-pass-failed) \
       $(if $(filter double,$(REAL)),-DCR_DOUBLE)

src    := $(sort $(wildcard src/*.c src/*/*.c))
obj    := $(src:%.c=$(BUILD)/%.o)
parts  := $(BUILD)/tests/parts.so
units  := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/t_*.c)))
kernels = $(filter $(BUILD)/tests/unit/t_kernels_%,$(units))
cases  := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/cases/t_*.c)))
fuzzes := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
injector := $(BUILD)/tests/inject/inject.so
clis   := $(sort $(wildcard tests/cli/*.bats))
injects := $(sort $(wildcard tests/inject/*.sh))
trees  := $(sort $(wildcard tests/tree/*.sh))
pages  := $(patsubst man/%.in,%,$(sort $(wildcard man/*.in))) \
          $(patsubst src/commands/%.c,cellrun-%.1,$(subst _,-,$(sort $(wildcard \
            src/commands/*.c))))
man    := $(pages:%=$(BUILD)/man/%)
sections := $(sort $(patsubst .%,%,$(suffix $(pages))))
# Programs that speak MPI, where its compilers are: openmpi, mpich.
mpis   := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$m),$m))
mpi_objects := $(mpis:%=$(BUILD)/cellrun-mpi-%.so)
digits := datasets/digits/train-images-idx3-ubyte.gz

# What the tests read from the environment.
tested = CELLRUN="$(abspath $(BUILD))/cellrun" BUILD="$(abspath $(BUILD))" \
         CC="$(CC)" OURS="$(ours) $(libs_cflags)" \
         tests/run -j $(JOBS) -o $(BUILD)/logs/$@

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.PHONY: all man html pdf check check-unit check-cli check-cases check-fuzz \
        check-headers check-tree check-threads check-tsan check-asan \
        check-double check-kernels \
        check-valgrind inject fuzz fuzzers soak soak-mpi soak-net soak-sweep soak-random soak-peer \
        check-search check-search-rungs \
        soak-kernels soak-passes mutate bench \
        bench-peers install uninstall clean packages packages-ci \
        print-packages print-packages-ci run \
        help format curves curves-amp curves-resnet20 compile_commands.json \
        FORCE

all: $(BUILD)/cellrun $(if $(filter build/plain,$(BUILD)),build/cellrun) \
     $(mpi_objects) \
     $(digits)

## ---- The program

$(BUILD)/cellrun: $(obj)
	$(call Q,link $@)$(CC) $(ours) $(CFLAGS) $(LDFLAGS) -o $@ $(obj) \
	    -Wl,--as-needed $(LDLIBS)

build/cellrun: build/plain/cellrun
	ln -sf plain/cellrun $@

# The calls of MPI, by each MPI that is here: opened under mpirun (src/mpi).
$(BUILD)/cellrun-mpi-%.so: src/mpi/object/mpi_object.c src/mpi/mpi_calls.h
	@mkdir -p $(@D)
	$(call Q,mpicc.$* $<)mpicc.$* -std=c17 -D_GNU_SOURCE -Isrc -Wall -Wextra \
	    $(CFLAGS) $(LDFLAGS) -fPIC -shared -o $@ $<

$(BUILD)/src/mpi/mpi.o: private ours += -DCR_LIBDIR='"$(libdir)/cellrun"'

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,cc $<)$(CC) $(ours) $(libs_cflags) $(CPPFLAGS) $(CFLAGS) \
	    -MMD -MP -c -o $@ $<

# clang takes half an hour for the unrolled kernels with all that a fuzzer
# wants to know of them; no input of a fuzzer reaches them.
ifdef FUZZER
$(patsubst %.c,$(BUILD)/%.o,$(wildcard src/kernels/*_avx*.c)): CFLAGS += -O0
endif

# version tells what it was built with.
$(BUILD)/src/commands/version.o: private ours += -DCR_FLAGS='"$(strip $(CFLAGS) \
    $(if $(SANITIZE),-fsanitize=$(SANITIZE)))"'

# private: the flags of the whole build are the same whichever object is made.
$(BUILD)/tests/%.o: private ours += -Itests

# What `cellrun init` writes: configs that need no other file, in this order.
templates := $(patsubst %,configs/%.yaml,templates/digits mnist \
               templates/lenet resnet18 templates/tabular templates/textcls \
               charlm templates/finetune)
$(BUILD)/src/starter/templates.o: private ours += -I$(BUILD)/src
$(BUILD)/src/starter/templates.o: $(BUILD)/src/starter/templates.inc
$(BUILD)/src/starter/templates.inc: $(templates) Makefile
	@mkdir -p $(@D)
	$(call Q,make $@){ for f in $(templates); do \
	    echo "static const char text_$$(basename $$f .yaml)[] = {"; \
	    od -An -v -td1 $$f | sed 's/ *\(-\{0,1\}[0-9]\{1,\}\)/\1,/g'; \
	    echo '0 };'; \
	  done; \
	  echo 'const struct cr_template cr_templates[] = {'; \
	  for f in $(templates); do n=$$(basename $$f .yaml); \
	    echo "{ \"$$n\", text_$$n, sizeof text_$$n - 1 },"; \
	  done; \
	  echo '{ 0 } };'; } >$@

# The sentences of the manual, for `cellrun help --search`.
$(BUILD)/src/conf/search.o: private ours += -I$(BUILD)/src
$(BUILD)/src/conf/search.o: $(BUILD)/src/conf/pages.inc
$(BUILD)/src/conf/pages.inc: man/plain $(wildcard man/*.in)
	@mkdir -p $(@D)
	$(call Q,make $@)man/plain $(filter %.in,$^) >$@

# Other flags than last time
: everything is built again.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ours) $(CPPFLAGS) $(CFLAGS)' >$@.new; \
	 if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

-include $(obj:.o=.d)

## ---- The embedded data set

$(BUILD)/digits: datasets/digits.c datasets/draw_digit.c datasets/draw_digit.h \
    $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,cc $<)$(CC) -std=c17 -D_GNU_SOURCE -Wall -Wextra $(CFLAGS) \
	    $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS) -o $@ \
	    $(filter %.c,$^) -lpng -lz -lm

$(digits): datasets/digits.c datasets/draw_digit.c | $(BUILD)/digits
	$(BUILD)/digits $(@D)
	@touch $@

## ---- Tests

searches := $(BUILD)/tests/search/search $(BUILD)/tests/search/rungs
# The program without its main, once for all tests: each with a copy of its own
# would take gigabytes, with sanitizers twenty.
$(parts): $(filter-out $(BUILD)/src/main.o,$(obj))
	@mkdir -p $(@D)
	$(call Q,link $@)$(CC) $(ours) $(CFLAGS) $(LDFLAGS) -shared \
	    -Wl,-Bsymbolic,-soname,$(@F) -o $@ $^ -Wl,--as-needed $(LDLIBS)

# They find it beside their folder.
with_parts = $(parts) -Wl,-rpath,'$$ORIGIN/..' -Wl,--as-needed $(LDLIBS)

$(units) $(cases) $(BUILD)/tests/soak/plans $(searches): %: %.o $(parts)
	$(call Q,link $@)$(CC) $(ours) $(CFLAGS) $(LDFLAGS) -o $@ $< $(with_parts)

# Calls that fail on demand, for LD_PRELOAD, which stand before those of libc.
$(injector): tests/inject/inject.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,link $@)$(CC) $(ours) $(CFLAGS) $(LDFLAGS) -shared \
	    -fsemantic-interposition -o $@ $< -ldl

# Without FUZZER an ordinary main replays the corpus.
$(fuzzes): %: %.o $(parts) $(if $(FUZZER),,$(BUILD)/tests/fuzz/replay.o)
	$(call Q,link $@)$(CC) $(ours) $(if $(FUZZER),-fsanitize=fuzzer) $(CFLAGS) $(LDFLAGS) \
	    -o $@ $(filter %.o,$^) $(with_parts)

-include $(units:=.d) $(cases:=.d) $(fuzzes:=.d) $(BUILD)/tests/soak/plans.d

# Made again if somebody has removed it: it is a goal, no step on the way.
check check-unit check-cases check-fuzz check-cli check-threads \
    check-kernels: $(parts)
check: all man $(BUILD)/digits $(injector) $(units) $(cases) $(fuzzes) \
    $(BUILD)/tests/soak/plans
	@$(tested) $(units) $(cases) $(fuzzes) $(trees) $(clis) $(injects)
check-unit: all $(units)
	@$(tested) $(units)
check-cases: all $(cases) $(BUILD)/tests/soak/plans
	@$(tested) $(cases)
check-fuzz: $(fuzzes)
	@$(tested) $(fuzzes)
check-cli: all $(BUILD)/digits $(injector) $(BUILD)/tests/cases/t_golden
	@$(tested) $(clis)
check-tree: all man
	@$(tested) $(trees)
check-headers:
	@$(tested) tests/tree/headers.sh

# The same tests on other builds.
check-asan:
	@$(MAKE) check SANITIZE=address,undefined
check-double:
	@$(MAKE) check REAL=double
# The tests that train, on each implementation that `check` does not take:
# instruction set (none: the best one of the processor) and library.
kernels_choices := generic,own avx2,own ,openblas ,onednn
kernels_tests = $(cases) $(BUILD)/tests/unit/t_exec $(BUILD)/tests/unit/t_plan \
    $(BUILD)/tests/unit/t_gemm $(addprefix tests/cli/,digits.bats \
    gradcheck.bats train.bats)
check-kernels: all $(kernels_tests)
	@for choice in $(kernels_choices); do \
	    export CELLRUN_ISA=$${choice%,*} CELLRUN_BLAS=$${choice#*,}; \
	    echo "-- $$CELLRUN_ISA, $$CELLRUN_BLAS"; \
	    $(tested)-$$choice $(kernels_tests) || failed=1; \
	 done; [ -z "$$failed" ]
check-valgrind: all
	@$(tested) tests/valgrind/round.sh

# What runs in several threads, under ThreadSanitizer: the pool, the workers
# of the data, signals, hooks, locks.
threads := $(patsubst %,$(BUILD)/tests/unit/t_%,thread_pool data_loader exec images augment) \
           $(patsubst %,tests/cli/%.bats,exec hooks signals nan report terminal \
             tensorboard sweep)
check-tsan:
	@$(MAKE) check-threads SANITIZE=thread CC=$(if \
	    $(findstring clang,$(CC)),'$(CC)',clang)
check-threads: all $(filter $(BUILD)/%,$(threads))
	@$(tested) $(threads)

# Search quality of sweeps against Optuna. VENV: a Python environment with
# optuna and numpy.
check-search: $(BUILD)/tests/search/search
	@if [ -z "$(VENV)" ]; then \
	    echo 'give a Python environment: make check-search VENV=dir'; exit 2; fi
	"$(VENV)/bin/python" tests/search/compare_optuna.py $< 20
# The methods with rungs against Optuna's pruner, on learning curves of three
# sweeps that are recorded first.
spaces := dense convolution plants
check-search-rungs: $(BUILD)/tests/search/rungs all $(digits)
	@if [ -z "$(VENV)" ]; then \
	    echo 'give a Python environment: make $@ VENV=dir'; exit 2; fi
	@for s in $(spaces); do \
	    $(BUILD)/cellrun sweep tests/search/$$s.yaml --dir $(BUILD)/search/$$s \
	        --jobs $(JOBS) -q || [ $$? = 7 ] || exit 1; \
	 done
	"$(VENV)/bin/python" tests/search/compare_pruner.py $< \
	    $(spaces:%=$(BUILD)/search/%) 20

# Lets every call that the system may refuse fail once; ONLY: COMMAND:KIND.
inject: all $(injector)
	CELLRUN="$(abspath $(BUILD))/cellrun" BUILD="$(abspath $(BUILD))" \
	    tests/inject/walk.pl -j $(JOBS) $(ONLY)

FUZZ_TIME ?= 600
fuzz:
	@$(MAKE) fuzzers CC=clang FUZZER=1 SANITIZE=address,undefined \
	    BUILD=build/fuzz
	@for f in $(notdir $(fuzzes)); do \
	    dir=tests/fuzz/corpus/$${f#fuzz_}; mkdir -p "build/fuzz/new/$$f"; \
	    echo "$$f: $(FUZZ_TIME) s"; \
	    build/fuzz/tests/fuzz/$$f -max_total_time=$(FUZZ_TIME) \
	        -print_final_stats=1 -artifact_prefix="build/fuzz/$$f-" \
	        "build/fuzz/new/$$f" "$$dir" || exit 1; \
	 done
fuzzers: $(fuzzes)

# Kills a run 200 times and compares what comes out, then one with a whole
# training recipe 50 times and 50 times: N, LONGEST, WORKERS, RECIPE.
soak: all
ifdef RECIPE
	RECIPE=$(RECIPE) CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/kill.sh
else
	CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/kill.sh
	for recipe in cosine plateau; do \
	    N=50 LONGEST=400 WORKERS=2 RECIPE=$$recipe \
	    CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/kill.sh || exit; \
	done
endif

# Kills processes of a run under mpirun 100 times: N, RANKS, LONGEST, SEED.
soak-mpi: all
	CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/mpi.sh

# Processes in network namespaces, against what bench --mpi expects: RATES,
# DELAYS, CONFIGS, RANKS. Needs root.
soak-net: all $(BUILD)/tests/soak/delay
	CELLRUN="$(abspath $(BUILD))/cellrun" \
	    CARRIER="$(abspath $(BUILD))/tests/soak/delay" tests/soak/net.sh
$(BUILD)/tests/soak/delay: tests/soak/delay.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,link $@)$(CC) $(ours) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $<

# Kills the processes of a sweep N times.
soak-sweep: all
	CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/sweep.sh

# N random networks from number SEED on, each trained in ways that must agree.
soak-random: all $(BUILD)/tests/soak/plans
	PLANS="$(abspath $(BUILD))/tests/soak/plans" \
	CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/random.pl

# N random networks from number SEED on, trained by cellrun and by PyTorch in
# double precision. VENV: a Python environment with torch, numpy, safetensors.
soak-peer: all
	@if [ -z "$(VENV)" ]; then \
	    echo 'give a Python environment: make soak-peer VENV=dir'; exit 2; fi
	CELLRUN="$(abspath $(BUILD))/cellrun" $(VENV)/bin/python \
	    tests/soak/peer.py

# Trains the configs with each optional pass of the planner skipped.
soak-passes: all
	CELLRUN="$(abspath $(BUILD))/cellrun" tests/soak/passes.sh

# N settings of each kernel from number SEED on, on each implementation.
soak-kernels: $(kernels)
	for t in $(kernels); do \
	    KERNELS_N=$(or $(N),5000) KERNELS_SEED=$(or $(SEED),2) $$t || exit 1; \
	done

# Changes N (50) places of DIR (src/ckpt src/train src/graph src/data) one at a
# time, by the random SEED, and tells which of them no test notices.
mutate: all $(units) $(cases) $(fuzzes)
	CC="$(CC)" OURS="$(ours) $(libs_cflags)" LDLIBS="$(LDLIBS)" \
	    BUILD="$(BUILD)" tests/mutate/mutate.pl

## ---- Speed

bench: all
	$(BUILD)/cellrun bench configs/digits.yaml
# VENV: a Python environment with PyTorch; PEERS: the folder of torch_peer.py.
bench-peers: bench
	@if [ -z "$(VENV)" ] || [ -z "$(PEERS)" ]; then \
	    echo 'usage: make bench-peers VENV=dir PEERS=dir'; exit 2; fi
	for net in mlp lenet resnet20 encoder charlm; do \
	    for mode in eager cl compile; do $(VENV)/bin/python \
	        $(PEERS)/torch_peer.py $$net --mode $$mode --threads $(JOBS); \
	    done; \
	    OMP_NUM_THREADS=1 $(VENV)/bin/torchrun --nproc-per-node $(JOBS) \
	        tests/golden/peer_ddp.py $(PEERS)/torch_peer.py $$net; \
	done

## ---- Manual pages, from man/*.in and what the program knows of itself

man: $(man)
$(BUILD)/man/%: man/%.in man/fill $(BUILD)/cellrun src/ckpt/checkpoint.c
	@mkdir -p $(@D)
	$(call Q,make $@)man/fill $(BUILD)/cellrun $< >$@
# One page per command, with the date of cellrun(1).
$(BUILD)/man/cellrun-%.1: man/cellrun.1.in $(BUILD)/cellrun
	@mkdir -p $(@D)
	$(call Q,make $@){ sed -n 1p $<; $(BUILD)/cellrun help --man cellrun-$*; } >$@

# The whole manual as linked pages, and as one document.
html: $(BUILD)/html/index.html
$(BUILD)/html/index.html: $(man) man/html man/style.css
	$(call Q,make $@)man/html $(BUILD)/man $(@D) $(pages)
pdf: $(BUILD)/cellrun.pdf
$(BUILD)/cellrun.pdf: $(man)
	$(call Q,make $@)cd $(BUILD)/man && mandoc -T pdf -I os=cellrun $(pages) >../$(@F)

## ---- Installing

install: all man
	$(INSTALL) -d $(DESTDIR)$(bindir) \
	    $(sections:%=$(DESTDIR)$(mandir)/man%) $(DESTDIR)$(includedir) \
	    $(DESTDIR)$(datadir)/bash-completion/completions
	$(INSTALL) $(BUILD)/cellrun $(DESTDIR)$(bindir)/cellrun
	$(if $(mpis),$(INSTALL) -d $(DESTDIR)$(libdir)/cellrun &&) :
	$(foreach o,$(mpi_objects),$(INSTALL) -m 755 $o \
	    $(DESTDIR)$(libdir)/cellrun/$(notdir $o) &&) :
	$(INSTALL) -m 644 src/cellrun.h $(DESTDIR)$(includedir)/cellrun.h
	$(foreach s,$(sections),$(INSTALL) -m 644 $(filter %.$s,$(man)) \
	    $(DESTDIR)$(mandir)/man$s &&) :
	$(BUILD)/cellrun completion bash \
	    >$(DESTDIR)$(datadir)/bash-completion/completions/cellrun
uninstall:
	rm -f $(DESTDIR)$(bindir)/cellrun \
	    $(DESTDIR)$(includedir)/cellrun.h \
	    $(foreach p,$(pages),$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $p))/$p) \
	    $(DESTDIR)$(datadir)/bash-completion/completions/cellrun
clean:
	rm -rf build datasets/digits compile_commands.json

## ---- The machine

# The only target that uses the network; does nothing when all is installed.
want := $(PACKAGES)
packages-ci: want += $(PACKAGES_CI)
packages-ci: packages # after it: apt-get runs once at a time
packages packages-ci:
	@if ! command -v dpkg-query >/dev/null; then \
	    command -v pkg-config >/dev/null && pkg-config $(libs) && exit 0; \
	    echo 'not Debian; install what these Debian packages hold:' >&2; \
	    echo '$(want)' >&2; exit 1; \
	 fi; \
	 missing=; for p in $(want); do \
	    dpkg-query -W -f '$${Status}' "$$p" 2>/dev/null | \
	        grep -q 'ok installed' || missing="$$missing $$p"; \
	 done; \
	 [ -n "$$missing" ] || exit 0; \
	 echo "installing:$$missing"; \
	 as=env; [ "$$(id -u)" = 0 ] || as='sudo env'; \
	 $$as DEBIAN_FRONTEND=noninteractive apt-get -q update && \
	 $$as DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
	    --no-install-recommends $$missing
print-packages:
	@echo $(PACKAGES)
print-packages-ci:
	@echo $(PACKAGES_CI)

# Asked for by name, these bring their packages first.
ifneq ($(filter run check,$(MAKECMDGOALS)),)
$(BUILD)/flags: | packages
endif

## ---- Convenience

# The main job on the embedded data: train, then evaluate the checkpoint alone.
run: all
	$(BUILD)/cellrun train configs/digits.yaml -o runs/digits --force
	$(BUILD)/cellrun eval --ckpt runs/digits

# The curves of configs/README.md, from runs in build/curves. The data sets of
# the configs are looked up in CELLRUN_DATA; ResNet-20 trains for an hour or so.
curves: curves-amp curves-resnet20
curves-amp: all
	for p in float32 float16 bfloat16; do \
	    amp="amp.level=O2 amp.dtype=$$p"; \
	    [ $$p != float32 ] || amp=amp.level=O0; \
	    build/cellrun train configs/mnist.yaml $$amp -q --force \
	        --log-every '10 steps' -o build/curves/amp/$$p || exit; \
	 done
	build/cellrun plot build/curves/amp --metric train.loss --smooth 0.8 \
	    --x epoch --title 'mnist.yaml in three precisions' \
	    -o configs/amp.svg
curves-resnet20: all
	for s in 1 2 3; do \
	    build/cellrun train configs/resnet20.yaml -q --force seed=$$s \
	        -o build/curves/resnet20/seed$$s || exit; \
	 done
	build/cellrun plot build/curves/resnet20 --metric accuracy --over seed \
	    --x epoch --title 'resnet20.yaml, three seeds' \
	    -o build/curves/resnet20.svg

format:
	clang-format -i $(src) $(wildcard src/*/*.h tests/*/*.[ch] datasets/*.c)

compile_commands.json:
	@{ echo '['; sep=; for f in $(src); do \
	    printf '%s{"directory": "%s", "file": "%s", "command": "%s"}\n' \
	        "$$sep" '$(CURDIR)' "$$f" '$(CC) $(ours) -c '"$$f"; sep=,; \
	 done; echo ']'; } >$@

help:
	@echo 'make            build $(BUILD)/cellrun and the embedded data set'
	@echo 'make run        install packages, build, train and evaluate'
	@echo 'make check      install packages, build, run all tests'
	@echo '  check-unit check-cases check-fuzz check-cli check-tree: one kind'
	@echo '  check-asan check-tsan check-double check-kernels check-valgrind: others'
	@echo 'make fuzz       each fuzzer for FUZZ_TIME (600) seconds'
	@echo 'make inject     every call that the system may refuse fails once'
	@echo 'make soak       kill a run N (200) times and resume it'
	@echo 'make soak-net     mpirun over links of given rates, against its model'
	@echo 'make soak-sweep   kill the processes of a sweep N (50) times'
	@echo 'make soak-passes  train the configs, passes skipped one by one'
	@echo 'make soak-random  N (200) random networks, in ways that must agree'
	@echo 'make soak-peer    N (200) random networks against PyTorch; VENV=dir'
	@echo 'make check-search  sweep methods against Optuna; VENV=dir'
	@echo 'make check-search-rungs  halving and asha against Optuna; VENV=dir'
	@echo 'make soak-kernels  N (5000) settings of each kernel from SEED (2) on'
	@echo 'make mutate     change N (50) places in DIR: which does no test notice'
	@echo 'make bench      speed of this machine; bench-peers VENV=dir'
	@echo 'make man        manual pages into $(BUILD)/man'
	@echo 'make html pdf   the manual as linked pages or as one document'
	@echo 'make install    prefix=$(prefix) DESTDIR='
	@echo 'make packages   install what is missing; print-packages'
	@echo 'make curves     train and plot the curves of configs/README.md'
	@echo 'make format compile_commands.json clean uninstall'
	@echo 'Variants: SANITIZE=address,undefined REAL=double BUILD='
