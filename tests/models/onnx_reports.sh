# Users' reports of ONNX models (models/onnx_reports): pass/, and the cases of fail/ that
# are finished (reports-finished-onnx.txt).
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run.sh.  A case whose info.json expects "ok" passes in each form, compiled,
# and interpreted; any other is refused, compiled and interpreted, with words that name
# what is wrong.  A case of fail/ that is not listed and passes by now is named; with
# INGOT_GROW=1 it is added to the list, which only grows.

# unpack_links CASE: a copy of a case whose symbolic links were stored as files that hold
# their target; the folder to verify goes to $case.
unpack_links() {
    local file target
    cp -r "$1" "$folder/links" && chmod -R u+w "$folder/links"
    case=$(dirname "$(find "$folder/links" -name model.onnx)")
    for file in "$case"/*; do
        [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 200 ] || continue
        target=$(tr -d '\0' <"$file")
        [ ! -f "$case/$target" ] || ln -sf "$target" "$file"
    done
}

# expects CASE: what info.json says.
expects() {
    sed -n 's/^ *"expect": *"\(.*\)".*/\1/p' "$1/info.json"
}

# report_refused CASE: is it refused with words, compiled and interpreted?  If not, $said
# holds what was said.
report_refused() {
    local target status
    for target in cpu interpret; do
        said=$("$ingot" run -q -t "$target" "$1/model.onnx" -i "$1/test_data_set_0" 2>&1)
        status=$?
        case $status:$said in
            [34]:*error:*node\ *|[34]:*error:*initializer\ *) ;;
            *)
                said="$target: status $status: $(head -n 1 <<<"$said")"
                return 1
                ;;
        esac
    done
}

# report_verified CASE: the same of its numbers.
report_verified() {
    local form target
    for form in static dynamic constant interpret; do
        target=cpu
        [ $form != interpret ] || target=interpret
        said=$("$ingot" verify -q --form "${form/interpret/static}" -t $target "$1" 2>&1)
        grep -q '^pass ' <<<"$said" && continue
        said="$form: $(grep -m 1 FAIL <<<"$said" | cut -c1-200)"
        return 1
    done
}

# report_passes CASE
report_passes() {
    local case=$1
    [ -f "$case/model.onnx" ] || unpack_links "$case"
    if [ "$(expects "$1")" = ok ]; then
        report_verified "$case"
    else
        report_refused "$case"
    fi
}

onnx_reports() {
    local reports=$INGOT_MODELS/onnx_reports list=tests/models/reports-finished-onnx.txt
    local said path name listed
    if [ ! -d "$reports/pass" ]; then
        skip 1 "INGOT_CASES has no models/onnx_reports"
        return
    fi
    for path in "$reports"/pass/*/ "$reports"/fail/*/; do
        path=${path%/} name=$(basename "$path")
        listed=1
        case $path in */fail/*) listed=$(grep -cx "$name" $list) ;; esac
        if report_passes "$path"; then
            passed=$((passed + 1))
            [ "$listed" = 0 ] || continue
            echo "onnx_reports: passes by now: $name"
            [ "${INGOT_GROW:-0}" = 0 ] ||
                { cat $list && echo "$name"; } | sort -o $list
        elif [ "$listed" = 0 ]; then
            skip 1 "onnx_reports: not finished: $name: $said"
        else
            failed=$((failed + 1))
            echo "FAIL onnx_reports $name: $said"
        fi
        rm -rf "$folder/links"
    done
}
