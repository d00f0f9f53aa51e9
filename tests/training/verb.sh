#!/usr/bin/env bash
# ingot train on a stored DLRM: the loss falls as stored, training goes on where it was
# stopped to the same bits, the trained model runs, and wrong words are told.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/training/verb.sh      part of tests/training/run.sh
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
ingot=${INGOT_BUILD:-build/release}/ingot
case=${INGOT_CASES:-../shared}/models/training/curve_dlrm
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache
passed=0
failed=0

# holds CLAIM COMMAND…: the command ends well.
holds() {
    local claim=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not so: %s\n' "$claim"
        head -n 5 "$folder/log"
    fi
}

# says STATUS WORDS COMMAND…: it ends with that status and says these words.
says() {
    local status=$1 words=$2 got
    shift 2
    "$@" >"$folder/log" 2>&1
    got=$?
    [ "$got" = "$status" ] && grep -qF -- "$words" "$folder/log" && return
    echo "status $got, and not: $words"
    head -n 3 "$folder/log"
    return 1
}

train() {
    "$ingot" train "$case/model.pt" --loss bce_logits:=label --data "$case/batch0.npz" \
        --optimizer 'tables.*=rowwise_adagrad(lr=0.02,eps=0.0001)' \
        --optimizer '*=adamw(lr=0.002,eps=0.00001,weight_decay=0.01)' "$@"
}

python() {
    /usr/bin/python3 "$@"
}

holds "ten steps over one batch" train --steps 10 --json -o "$folder/ten.npz"
cp "$folder/log" "$folder/ten.json"
holds "the first loss is the stored one, and it falls" python - "$folder/ten.json" <<'PY'
import json, sys
losses = json.load(open(sys.argv[1]))["losses"]
assert len(losses) == 10 and abs(losses[0] - 0.6951959) < 1e-6, losses
assert losses[9] < losses[0], losses
PY
holds "four steps" train -q --steps 4 -o "$folder/four.npz"
holds "six more" train -q --steps 10 --begin "$folder/four.npz" -o "$folder/resumed.npz"
holds "come to the bits of ten in one go" cmp "$folder/ten.npz" "$folder/resumed.npz"
for threads in 2 3 5 7; do
    holds "so do $threads threads" train -q -j $threads --steps 10 -o "$folder/many.npz"
    holds "which are the same bits" cmp "$folder/ten.npz" "$folder/many.npz"
done
holds "the trained model is written" train -q --steps 10 -o "$folder/trained.ingot"
holds "and runs" "$ingot" run "$folder/trained.ingot" --inputs "$case/batch0.npz"
step() {
    "$ingot" train "$folder/step.ingot" --data "$case/batch0.npz" "$@"
}
holds "without data the step is an artifact" "$ingot" train "$case/model.pt" \
    --loss bce_logits:=label -o "$folder/step.ingot" \
    --optimizer 'tables.*=rowwise_adagrad(lr=0.02,eps=0.0001)' \
    --optimizer '*=adamw(lr=0.002,eps=0.00001,weight_decay=0.01)'
holds "which trains" step -q --steps 10 -o "$folder/of_step.npz"
holds "to the same bits" cmp "$folder/ten.npz" "$folder/of_step.npz"
train --steps 2 --eval "$case/batch0.npz" | tail -n 1 >"$folder/of_model.txt"
step --steps 2 --eval "$case/batch0.npz" | tail -n 1 >"$folder/of_step.txt"
holds "it is tried as a model is" cmp "$folder/of_model.txt" "$folder/of_step.txt"
holds "its loss is its own" says 2 "leave out --loss" step --loss sum:y
holds "it gives no model" says 2 "weights go to .npz" step -o "$folder/x.ig"
"$ingot" compile "$case/model.pt" -o "$folder/plain.ingot" >"$folder/log" 2>&1
holds "an artifact that does not train" says 3 "step of training" \
    "$ingot" train "$folder/plain.ingot" --data "$case/batch0.npz"
holds "evaluation tells an AUC" says 0 "AUC" train --steps 2 --eval "$case/batch0.npz"
mkdir "$folder/thrice"
for i in 1 2 3; do
    cp "$case/batch0.npz" "$folder/thrice/$i.npz"
done
# LARS goes on by its momentum, whatever the rate: a trial changes nothing all the same.
lars() {
    "$ingot" train "$case/model.pt" --loss bce_logits:=label --data "$case/batch0.npz" \
        --optimizer '*=lars(lr=50)' --steps 3 "$@" | grep '^eval'
}
lars --eval "$case/batch0.npz" >"$folder/once.txt"
lars --eval "$folder/thrice" >"$folder/thrice.txt"
holds "evaluation is there" test -s "$folder/once.txt"
holds "evaluation of a batch three times is that of it once" \
    cmp "$folder/once.txt" "$folder/thrice.txt"
holds "an optimizer that is none" says 2 "not 'tables.*'" \
    "$ingot" train "$case/model.pt" --loss bce_logits:=label --data x.npz --optimizer 'tables.*'
holds "a pattern that fits nothing" says 3 "no weight or input that can be trained is called 'nobody*'" \
    "$ingot" train "$case/model.pt" --loss bce_logits:=label --data "$case/batch0.npz" \
    --optimizer 'nobody*=sgd'
cat >"$folder/half.ig" <<'IG'
module @half {
  weight @t : f16[4, 2] = splat(1)
  graph @main(%i: i64[B, 1]) -> (f16[B, 2] "y") {
    %0 = bag @t, %i {operands = [0], pool = [sum]} : f16[B, 2]
    ret %0
  }
}
IG
holds "a table of f16" says 4 "rounded at random" "$ingot" train "$folder/half.ig" \
    --loss sum:y --data "$case/batch0.npz" --optimizer 't=sgd'
holds "an array that is not there" says 1 "there is no array 'clicks'" \
    "$ingot" train "$case/model.pt" --loss bce_logits:=clicks --data "$case/batch0.npz"
holds "no loss" says 2 "--loss is needed" "$ingot" train "$case/model.pt" --data x.npz

# The step of TorchRec's tutorial by the model it scripts: where that adds up 1 less what
# bags give, the sum of what they give falls by as much (train_tutorial_loss).
tutorial=${INGOT_CASES:-../shared}/models/torchrec
holds "the tutorial's batch is written" python - "$tutorial/train_tutorial_loss" "$folder/batch.npz" <<'PY'
import sys, numpy
ids, offsets = (numpy.load(f"{sys.argv[1]}/{name}.npy") for name in ("indices", "offsets"))
numpy.savez(sys.argv[2], **{"kjt.values": ids, "kjt.lengths": numpy.diff(offsets)})
PY
holds "its model takes two steps" "$ingot" train "$tutorial/seed_float_ebc/model.pt" --loss sum: \
    --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)' \
    --data "$folder/batch.npz" --optimizer '*=rowwise_adagrad(lr=0.02,eps=0.002)' --steps 2 --json
cp "$folder/log" "$folder/tutorial.json"
holds "the loss falls as TorchRec's" python - "$folder/tutorial.json" <<'PY'
import json, sys
before, after = json.load(open(sys.argv[1]))["losses"]
assert abs(before - after - 10.222107) < 1e-4, (before, after)
PY

# Running statistics of a model in training mode go along; torch.nn.BatchNorm1d gave these.
cat >"$folder/norm.ig" <<'IG'
module @norm {
  weight @w : f32[3] = splat(1) {parameter}
  weight @b : f32[3] = splat(0) {parameter}
  weight @bn.mean : f32[3] = splat(0)
  weight @bn.count : i64[] = splat(0)
  graph @main(%x: f32[B, 3], %mean: f32[3] = @bn.mean, %count: i64[] = @bn.count) -> (f32[B, 3] "y", f32[3] "mean", i64[] "count") {
    %0 = reduce %x {op = mean, axes = [0], keep} : f32[1, 3]
    %1 = sub %x, %0 : f32[B, 3]
    %2 = mul %1, %1 : f32[B, 3]
    %3 = reduce %2 {op = mean, axes = [0]} : f32[3]
    %4 = reshape %0 {to = [3]} : f32[3]
    %5 = batch_norm %x, @w, @b, %4, %3 {epsilon = 1e-05} : f32[B, 3]
    %6 = const {value = 0.5} : f32[]
    %7 = mul %mean, %6 : f32[3]
    %8 = mul %4, %6 : f32[3]
    %9 = add %7, %8 : f32[3]
    %10 = const {value = 1} : i64[]
    %11 = add %count, %10 : i64[]
    ret %5, %9, %11
  }
}
IG
sed -e 's/, %mean: f32.*@bn.count)/, %mean: f32[3], %count: i64[])/' \
    -e 's/%4, %3 {eps/@bn.mean, @w {eps/' "$folder/norm.ig" >"$folder/stored.ig"
python - "$folder/norm.npz" <<'PY'
import sys, numpy
x = numpy.array([[1, 2, 3], [3, 2, -1]], "float32")
numpy.savez(sys.argv[1], x=x, y1=x[::-1] / 4, mean=x[0], count=numpy.int64(1))
PY
norm() {
    "$ingot" train "$1" --loss mse:y=y1 --data "$folder/norm.npz" --optimizer 'w=sgd(lr=0.5)' \
        --optimizer 'b=sgd(lr=0.5)' --steps 2 -o "$folder/norm-out.npz"
}
holds "a model with running statistics trains" norm "$folder/norm.ig"
holds "its statistics and weights are those of torch" python - "$folder/norm-out.npz" <<'PY'
import sys, numpy
z = numpy.load(sys.argv[1])
want = {"bn.mean": [1.5, 1.5, 0.75], "bn.count": 2, "b": [0.27777779, 0.277771, 0.13888890],
        "w": [0.30556044, 1, 0.16666797]}
for name, values in want.items():
    assert numpy.allclose(z[name], values, rtol=1e-6), (name, z[name])
PY
norm_eval() {
    "$ingot" train "$folder/norm.ig" --loss mse:y=y1 --data "$folder/norm.npz" --optimizer 'w=sgd(lr=0.5)' \
        --optimizer 'b=sgd(lr=0.5)' --steps 2 --eval "$folder/norm.npz" --json
}
holds "a trial of it" norm_eval
cp "$folder/log" "$folder/norm.json"
holds "applies the mean that training kept" python - "$folder/norm.json" "$folder" <<'PY'
import json, sys, numpy
data, out = (numpy.load(f"{sys.argv[2]}/{name}.npz") for name in ("norm", "norm-out"))
x = data["x"].astype("float64")
y = (x - out["bn.mean"]) / numpy.sqrt(x.var(0) + 1e-5) * out["w"] + out["b"]
loss = json.load(open(sys.argv[1]))["eval_loss"]
want = ((y - data["y1"]) ** 2).mean()
assert abs(loss / want - 1) < 1e-4, (loss, want)
PY
holds "statistics that are stored are told of" says 0 "exported for inference" norm "$folder/stored.ig"

# Criteo's text is what numpy makes of it.
cat >"$folder/clicks.ig" <<'IG'
module @clicks {
  weight @table : f32[100, 4] = splat(0.01) {parameter}
  weight @w : f32[13, 4] = splat(0.01) {parameter}
  graph @main(%dense: f32[B, 13], %ids: i64[B, 26]) -> (f32[B] "score") {
    %0 = gather @table, %ids {axis = 0} : f32[B, 26, 4]
    %1 = reduce %0 {op = sum, axes = [1]} : f32[B, 4]
    %2 = matmul %dense, @w : f32[B, 4]
    %3 = add %1, %2 : f32[B, 4]
    %4 = reduce %3 {op = sum, axes = [1]} : f32[B]
    ret %4
  }
}
IG
python - "$folder" <<'PY'
import math, random, sys, numpy
random.seed(1)
rows = [[str(random.randrange(2))] + [random.choice(["", "-1", str(random.randrange(1000))]) for _ in range(13)]
        + [random.choice(["", f"{random.getrandbits(32):08x}"]) for _ in range(26)] for _ in range(100)]
with open(f"{sys.argv[1]}/clicks.tsv", "w") as file:
    file.writelines("\t".join(row) + "\n" for row in rows)
with open(f"{sys.argv[1]}/bad.tsv", "w") as file:
    file.write("\t".join(rows[0]) + "\n2\tx\n")
dense = [[math.log1p(max(int(x or 0), 0)) for x in row[1:14]] for row in rows]
ids = [[int(x or "0", 16) % 100 for x in row[14:]] for row in rows]
numpy.savez(f"{sys.argv[1]}/clicks.npz", dense=numpy.array(dense, "float32"), ids=numpy.array(ids),
            label=numpy.array([float(row[0]) for row in rows], "float32"))
PY
clicks() {
    "$ingot" train "$folder/clicks.ig" --loss bce_logits:score=label --optimizer '*=sgd(lr=0.01)' --data "$@"
}
holds "Criteo's text trains" clicks "$folder/clicks.tsv" --modulo 100 --batch 32 --epochs 2 -q \
    -o "$folder/text.npz" --svg "$folder/curve.svg"
holds "its curve is a picture" python -c "
import sys, xml.dom.minidom
lines = xml.dom.minidom.parse('$folder/curve.svg').getElementsByTagName('polyline')
assert [len(line.getAttribute('points').split()) for line in lines] == [8, 8]"
holds "so do arrays made of it" clicks "$folder/clicks.npz" --batch 32 --epochs 2 -q -o "$folder/arrays.npz"
holds "to the same bits" cmp "$folder/text.npz" "$folder/arrays.npz"
holds "a wrong line is named" says 1 "bad.tsv:2: the label is not 0 or 1" \
    clicks "$folder/bad.tsv" --modulo 100 --batch 32
holds "what the text needs is told" says 1 "needs --batch N and --modulo" clicks "$folder/clicks.tsv"

# Checkpoints, whatever ends the process.
times=10
[ "${INGOT_FULL:-0}" = 0 ] || times=300
mkdir "$folder/ends"
holds "a training that is killed $times times comes to the same bits" \
    python tests/training/killed.py "$ingot" "$case" "$folder/ends" $times
holds "ten steps from a checkpoint" train -q --steps 10 --begin "$folder/ends/whole"
cat >"$folder/tables.ig" <<'IG'
module @tables {
  weight @ebc.embedding_bags.t0.weight : f32[22, 16] = splat(0) {parameter}
  graph @main(%ids: i64[N], %ends: i64[3]) -> (f32[2, 16] "y") {
    %0 = bag @ebc.embedding_bags.t0.weight, %ids, %ends {operands = [1], pool = [sum], last = [offset]} : f32[2, 16]
    ret %0
  }
}
IG
python - "$folder/ids.npz" <<'PY'
import sys, numpy
numpy.savez(sys.argv[1], ids=numpy.array([1, 2, 2, 9]), ends=numpy.array([0, 1, 4]))
PY
holds "a checkpoint of TorchRec trains on" "$ingot" train "$folder/tables.ig" --loss sum:y \
    --data "$folder/ids.npz" --optimizer '*=rowwise_adagrad(lr=0.1,eps=0.001)' -q \
    --begin "${INGOT_CASES:-../shared}/models/training/ckpt_rw_rowwise_adagrad_w2/checkpoint"
if [ "${INGOT_FULL:-0}" = 1 ]; then
    holds "a checkpoint of AdamW" train -q --steps 10 --checkpoint "$folder/torch"
    holds "one of tables" "$ingot" train "$tutorial/seed_float_ebc/model.pt" --loss sum: \
        --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)' \
        --data "$folder/batch.npz" --optimizer '*=rowwise_adagrad(lr=0.02,eps=0.002)' --steps 2 -q \
        --checkpoint "$folder/tables"
    holds "torch and TorchRec load them" python3 tests/training/checkpoint_torch.py \
        "$folder/torch/step-000000000010" "$folder/tables/step-000000000002"
fi

# Tables in a store: what it has and what it lacks, with room for a part of the rows, and
# going on come to the same bits as tables in memory.
if [ -e "$(dirname "$ingot")/libingot-store-lmdb.so" ]; then
    store=lmdb://$folder/rows.mdb
    holds "tables in a store train" train -q --steps 4 --store "tables.*=$store" -o "$folder/part.npz"
    holds "and go on" train -q --steps 10 --store "tables.*=$store" --begin "$folder/part.npz" \
        -o "$folder/rest.npz"
    holds "other weights have the bits of ten in one go" python - "$folder/ten.npz" "$folder/rest.npz" <<'PY'
import sys, numpy
whole, rest = (numpy.load(path) for path in sys.argv[1:])
assert {n for n in whole if not n.startswith("tables")} == set(rest), list(rest)
assert all(whole[n].tobytes() == rest[n].tobytes() for n in rest)
PY
    holds "the trained model reads the store" train -q --steps 11 --store "tables.*=$store" \
        --begin "$folder/rest.npz" -o "$folder/stored.ingot"
    holds "eleven in one go" train -q --steps 11 -o "$folder/eleven.ingot"
    for model in stored eleven; do
        holds "a trained model runs" "$ingot" run "$folder/$model.ingot" --inputs "$case/batch0.npz" \
            --outputs "$folder/$model.npz"
    done
    holds "to the same bits" cmp "$folder/stored.npz" "$folder/eleven.npz"
    train --steps 2 --eval "$case/batch0.npz" --store "tables.*=lmdb://$folder/new.mdb" | tail -n 1 \
        >"$folder/of_store.txt"
    holds "and is tried as one" cmp "$folder/of_model.txt" "$folder/of_store.txt"
    cat >"$folder/wide.ig" <<'IG'
module @wide {
  weight @t : f32[40000, 16] = splat(0.01) {parameter}
  weight @w : f32[1, 16] = splat(0.5) {parameter}
  graph @main(%ids: i64[B]) -> (f32[B] "y") {
    %0 = gather @t, %ids {axis = 0} : f32[B, 16]
    %1 = matmul %0, @w {transpose_b} : f32[B, 1]
    %2 = reshape %1 {to = [B]} : f32[B]
    ret %2
  }
}
IG
    mkdir "$folder/wide"
    python - "$folder/wide" <<'PY'
import sys, numpy
rng = numpy.random.default_rng(7)
for i in range(10):
    ids = numpy.append(rng.integers(-40000, 40000, 3000), 5)
    numpy.savez(f"{sys.argv[1]}/{i}.npz", ids=ids, label=rng.integers(0, 2, 3001).astype("f"))
PY
    wide() {
        "$ingot" train "$folder/wide.ig" --loss bce_logits:y=label --optimizer '*=adam(lr=0.01)' \
            --data "$folder/wide" --epochs 2 --json "$@"
    }
    holds "a table of which a part fits in memory" wide --store "t=lmdb://$folder/wide.mdb" --store-memory 1
    cp "$folder/log" "$folder/part.json"
    holds "the same in memory" wide
    cp "$folder/log" "$folder/all.json"
    holds "with room for two batches" wide --store "t=lmdb://$folder/ahead.mdb" --store-memory 2
    cp "$folder/log" "$folder/ahead.json"
    holds "has the same losses, and batches fetched ahead where there is room for two" \
        python - "$folder"/{all,part,ahead}.json <<'PY'
import json, sys
whole, part, ahead = (json.load(open(path)) for path in sys.argv[1:])
assert whole["losses"] == part["losses"] == ahead["losses"], (whole, part, ahead)
counts = [one.get("fetched_ahead") for one in (whole, part, ahead)]
assert counts == [None, 0, 18], counts  # of 20; the first of each epoch is fetched alone
PY
    mkdir "$folder/rows"
    holds "a training over a store that is killed $times times comes to the same bits" \
        python tests/training/killed.py "$ingot" "$case" "$folder/rows" $times store "$folder/wide.ig" \
        "$folder/wide"
    mkdir "$folder/bad"
    cp "$folder"/wide/[0-4].npz "$folder/bad"
    python - "$folder/bad/3.npz" <<'PY'
import sys, numpy
arrays = dict(numpy.load(sys.argv[1]))
arrays["ids"][17] = 40000
numpy.savez(sys.argv[1], **arrays)
PY
    over() {
        wide --store "t=lmdb://$folder/$1.mdb" --store-memory 1 --checkpoint "$folder/$1" -o "$folder/$1.npz" \
            "${@:2}"
    }
    holds "an id out of range is named" says 3 \
        "step 4: table 't': position 17 of its ids: 40000 is out of range: it has rows 0 to 39999" \
        over faulty --data "$folder/bad" --checkpoint-every 2
    cp "$folder/wide/3.npz" "$folder/bad"
    holds "a training that began is not begun again" says 1 "--resume continues" over faulty --data "$folder/bad"
    holds "where it goes on with a right one" over faulty --data "$folder/bad" --resume
    holds "and in one go" over right --data "$folder/bad"
    holds "weights have the same bits" cmp "$folder/faulty.npz" "$folder/right.npz"
    for name in faulty right; do
        holds "trained on" over $name --data "$folder/bad" --resume --epochs 4
        cp "$folder/log" "$folder/$name.json"
    done
    holds "rows have the same bits, too" cmp "$folder/faulty.json" "$folder/right.json"
    rm "$folder/right"/rows-*
    holds "rows of another step are told" says 1 "rows of another step" over right --data "$folder/bad" --resume
    holds "what holds whole tables is refused" says 2 "leave out --ranks" \
        train --store "tables.*=$store" --ranks 2
    holds "a table that no optimizer trains" says 1 "is trained by no optimizer" \
        "$ingot" train "$folder/wide.ig" --loss bce_logits:y=label --optimizer 'w=sgd' \
        --data "$folder/wide" --store 't=memory://'
fi

# Ranks take the batches in turn, or each its own; rank 0 writes what all have.
mkdir "$folder"/{eight,four,own0,own1}
holds "eight batches" python tests/training/cut_batch.py "$case" "$folder/eight" 8
holds "as four" python tests/training/cut_batch.py "$case" "$folder/four" 4
for i in 0 1 2 3 4 5 6 7; do
    cp "$folder/eight/$i.npz" "$folder/own$((i % 2))"
done
rules=(--loss bce_logits:=label --optimizer 'tables.*=rowwise_adagrad(lr=0.02,eps=0.0001)'
    --optimizer '*=adamw(lr=0.002,eps=0.00001,weight_decay=0.01)')
ranked() {
    "$ingot" train "$case/model.pt" "${rules[@]}" -j 1 --data "$@"
}
holds "two ranks" ranked "$folder/eight" --ranks 2 --json -o "$folder/two.npz"
cp "$folder/log" "$folder/two.json"
holds "two ranks again" ranked "$folder/eight" --ranks 2 -q -o "$folder/again.npz"
holds "come to the same bits" cmp "$folder/two.npz" "$folder/again.npz"
holds "each with its own batches" ranked "$folder/own%r" --ranks 2 -q -o "$folder/again.npz"
holds "comes to the same bits, too" cmp "$folder/two.npz" "$folder/again.npz"
holds "one rank, with the batches of both at once" ranked "$folder/four" --json
cp "$folder/log" "$folder/one.json"
holds "has the losses of two" python - "$folder/one.json" "$folder/two.json" <<'PY'
import json, sys
one, two = (json.load(open(path))["losses"] for path in sys.argv[1:])
assert len(one) == 4 and all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(one, two)), (one, two)
PY
rm "$folder/own1/7.npz"
holds "ranks stop with the one that has the least" says 0 "3 steps" \
    ranked "$folder/own%r" --ranks 2 --eval "$case/batch0.npz"
mkdir "$folder/ends2"
holds "three ranks keep a checkpoint" ranked "$folder/eight" --ranks 3 -q --steps 2 \
    --checkpoint "$folder/ranks" -o "$folder/three.npz"
for ranks in 1 2 4; do
    more=()
    [ $ranks = 1 ] || more=(--ranks $ranks)
    holds "with which $ranks begin" ranked "$folder/eight" --steps 2 -q "${more[@]}" \
        --begin "$folder/ranks" -o "$folder/begun.npz"
    holds "at the same bits" cmp "$folder/three.npz" "$folder/begun.npz"
done
holds "three go on" ranked "$folder/eight" --ranks 3 -q --steps 4 --epochs 9 --resume \
    --checkpoint "$folder/ranks" -o "$folder/resumed.npz"
holds "three in one go" ranked "$folder/eight" --ranks 3 -q --steps 4 --epochs 9 -o "$folder/whole.npz"
holds "have the same bits" cmp "$folder/whole.npz" "$folder/resumed.npz"
holds "two ranks that are killed $((times / 3)) times come to the same bits" \
    python tests/training/killed.py "$ingot" "$case" "$folder/ends2" $((times / 3)) 2 "$folder/eight"
holds "two go on after three" ranked "$folder/eight" --ranks 2 -q --steps 5 --epochs 9 --resume \
    --checkpoint "$folder/ranks"
if [ "${INGOT_FULL:-0}" = 1 ]; then
    mkdir "$folder/twice"
    for i in 0 1 2 3; do
        cp "$folder/batch.npz" "$folder/twice/$i.npz"
    done
    holds "two ranks keep one of AdamW" ranked "$folder/eight" --ranks 2 -q --steps 10 --epochs 9 \
        --checkpoint "$folder/torch2"
    holds "and one of tables" "$ingot" train "$tutorial/seed_float_ebc/model.pt" --loss sum: \
        --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)' \
        --data "$folder/twice" --optimizer '*=rowwise_adagrad(lr=0.02,eps=0.002)' --steps 2 -q \
        --ranks 2 -j 1 --checkpoint "$folder/tables2"
    holds "torch and TorchRec load them, too" python3 tests/training/checkpoint_torch.py \
        "$folder/torch2/step-000000000010" "$folder/tables2/step-000000000002"
fi
holds "the steps of two ranks" "$ingot" train "$case/model.pt" "${rules[@]}" --ranks 2 \
    -o "$folder/step%r.ingot"
holds "train as artifacts" "$ingot" train "$folder/step%r.ingot" --ranks 2 --data "$folder/eight" -q \
    -j 1 -o "$folder/again.npz" --checkpoint "$folder/of_steps"
holds "to the same bits" cmp "$folder/two.npz" "$folder/again.npz"
holds "in the wrong order they are told" says 1 "is the step of rank 1 of 2, and this is rank 0 of 2" \
    "$ingot" train "$folder/step1.ingot" --ranks 2 --data "$folder/eight"
holds "a rank alone writes no file of its own" says 2 "leave out %r" \
    ranked "$folder/eight" --ranks 2 -o "$folder/x%r.npz"
cat >"$folder/mlp.ig" <<'IG'
module @mlp {
  weight @w : f32[1, 13] = splat(0.125)
  graph @main(%dense: f32[B, 13]) -> (f32[B] "y") {
    %0 = mul %dense, @w : f32[B, 13]
    %1 = reduce %0 {op = sum, axes = [1]} : f32[B]
    ret %1
  }
}
IG
holds "a model without tables trains on ranks" says 0 "4 steps" "$ingot" train "$folder/mlp.ig" \
    --loss bce_logits:y=label --optimizer '*=sgd' --data "$folder/eight" --ranks 2
holds "gradients of two calls" ranked "$folder/eight" --accumulate 2 -q --steps 6 -o "$folder/six.npz"
holds "half of them" ranked "$folder/eight" --accumulate 2 -q --steps 3 --checkpoint "$folder/half"
holds "go on" ranked "$folder/eight" --accumulate 2 -q --steps 6 --checkpoint "$folder/half" --resume \
    -o "$folder/again.npz"
holds "to the same bits" cmp "$folder/six.npz" "$folder/again.npz"
holds "an artifact keeps checkpoints" step -q --steps 5 --checkpoint "$folder/kept"
holds "and goes on" step -q --steps 10 --checkpoint "$folder/kept" --resume -o "$folder/of_step.npz"
holds "to the bits of ten in one go" cmp "$folder/ten.npz" "$folder/of_step.npz"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
