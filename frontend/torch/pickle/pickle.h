/* Pickles: the meaning of the bytes, as a graph of values.  Nothing is executed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pickle is a program for a stack machine that names Python classes and functions.
 * Ours (vm.c) runs protocols 0 to 5, knows the meaning of some names (tensors,
 * containers: calls.def) and keeps every other one as a value that says "the call of
 * this name with these arguments"; the caller decides which may be where
 * (`is_allowed`).  Nothing is ever imported.
 *
 * Identity is kept: what Python shares (a list, an object, a tensor, a storage) is one
 * pointer here.  Every value has a dense `id`, so that side tables can be arrays.  The
 * graph is a DAG at most limits.pickle_depth deep: readers may recurse on it.  All of
 * it lives in the archive's arena and is immutable for its readers.
 */
#ifndef IG_FRONTEND_TORCH_PICKLE_PICKLE_H
#define IG_FRONTEND_TORCH_PICKLE_PICKLE_H

#include "frontend/torch/archive/archive.h"
#include "frontend/torch/pickle/dtypes.h"

#include "base/writer.h"

typedef struct ig_py ig_py;
typedef struct ig_py_tensor ig_py_tensor;
typedef struct ig_py_storage ig_py_storage;

typedef enum ig_py_kind {
    IG_PY_NONE,
    IG_PY_BOOL,    /* as.b */
    IG_PY_INT,     /* as.i */
    IG_PY_BIG,     /* as.text: a decimal that int64 cannot hold */
    IG_PY_FLOAT,   /* as.f */
    IG_PY_COMPLEX, /* as.complex */
    IG_PY_STR,     /* as.text, UTF-8 */
    IG_PY_BYTES,   /* as.text; also bytearray */
    IG_PY_LIST,    /* as.list */
    IG_PY_TUPLE,   /* as.list; torch.Size too: then `type` says so */
    IG_PY_SET,     /* as.list; also frozenset */
    IG_PY_DICT,    /* as.dict, in order of insertion; also OrderedDict */
    IG_PY_GLOBAL,  /* as.global: a class, a function, a module's attribute */
    IG_PY_OBJECT,  /* as.object: an instance */
    IG_PY_ENUM,    /* as.enumeration: the member of a class that has this value */
    IG_PY_CALL,    /* as.call: a call that is kept and not made */
    IG_PY_TENSOR,  /* as.tensor */
    IG_PY_STORAGE, /* as.storage */
    IG_PY_DTYPE,   /* as.dtype */
    IG_PY_DEVICE,  /* as.text: "cpu", "cuda:0" */
    IG_PY_KIND_COUNT
} ig_py_kind;

struct ig_py {
    ig_py_kind kind;
    uint32_t id;     /* dense over the values of a pickle set */
    uint64_t offset; /* of the opcode that made it, in its pickle */
    /* "List[str]", "Dict[str, int]" of restore_type_tag and build_*list; "torch.Size",
     * "collections.OrderedDict" and the like; NULL: none. */
    const char *type;
    union {
        bool b;
        int64_t i;
        double f;
        ig_str text;
        struct {
            double re, im;
        } complex;
        struct {
            ig_py **items;
            size_t count;
        } list;
        struct {
            ig_py **keys, **values;
            size_t count;
        } dict;
        struct {
            ig_str module, name; /* "__torch__.a.b", "Net" */
        } global;
        struct {
            ig_py *class; /* GLOBAL */
            ig_py *args;  /* of __new__: a TUPLE */
            ig_py *state; /* of BUILD; NULL when there was none */
            ig_py *items; /* of a subclass of list or dict: its items; or NULL */
        } object;
        struct {
            ig_py *class, *value;
        } enumeration;
        struct {
            ig_py *function;        /* GLOBAL as a rule */
            ig_py *args;            /* TUPLE as a rule */
            ig_py *state;           /* of BUILD, or NULL */
            ig_py *items;           /* the appended items: a LIST or DICT, or NULL */
            bool is_package_reduce; /* by torch.package's persistent id */
        } call;
        ig_py_tensor *tensor;
        ig_py_storage *storage;
        const ig_torch_dtype_info *dtype;
    } as;
};

struct ig_py_storage {
    const char *key;   /* the entry's name: "data/0", ".data/2.storage" */
    int64_t count;     /* elements as stated; bytes when untyped */
    int64_t size;      /* bytes needed */
    const void *bytes; /* little-endian; NULL: not recorded (traced inputs) */
    int64_t offset;    /* in the file; -1: in the arena (inflated, or swapped) */
    const ig_torch_dtype_info *dtype; /* NULL: untyped */
    ig_str location;                  /* "cpu", "cuda:0" */
};

typedef enum ig_py_qscheme {
    IG_PY_PER_TENSOR,
    IG_PY_PER_CHANNEL,       /* scales f64, zero points i64 */
    IG_PY_PER_CHANNEL_FLOAT, /* both f32 */
} ig_py_qscheme;

/* Scales and zero points of a tensor of a quantised dtype. */
typedef struct ig_py_quant {
    ig_py_qscheme scheme;
    double scale;
    int64_t zero_point;
    ig_py *scales, *zero_points; /* per channel: TENSORs of rank 1 */
    int64_t axis;
} ig_py_quant;

/* A tensor that is not a strided view of a storage. */
typedef struct ig_py_sparse {
    const char *layout; /* "sparse_coo", "sparse_csr" … */
    ig_py **parts;      /* coo: indices, values; csr: crow, col, values … */
    size_t part_count;
    bool is_coalesced;
} ig_py_sparse;

struct ig_py_tensor {
    ig_py_storage *storage; /* NULL for sparse ones */
    const ig_torch_dtype_info *dtype;
    uint32_t rank;
    const int64_t *sizes, *strides; /* strides in elements, >= 0 */
    int64_t offset;                 /* in elements, into the storage */
    int64_t count;                  /* elements; every one is in the storage */
    bool requires_grad, is_parameter, is_conj, is_neg;
    const ig_py_quant *quant;   /* quantised dtypes only, else NULL */
    const ig_py_sparse *sparse; /* NULL: strided */
    ig_py *subclass;            /* GLOBAL of a tensor subclass, or NULL */
    ig_py *extra; /* a parameter's or subclass's own attributes, or NULL */
};

/* ---- reading ---- */

/* The pickles of one archive that share storages and the numbering of values. */
typedef struct ig_pickle_set {
    ig_archive *archive; /* NULL: no storages can be read */
    ig_arena *arena;
    ig_context *context;
    ig_map storages; /* private: of all pickles of the set */
    ig_map reduced;  /* private: torch.package's number -> CALL */
    uint32_t value_count;
} ig_pickle_set;

typedef struct ig_pickle_options {
    const char *file; /* for messages */
    const char *name; /* of the entry, for messages */
    /* A storage of key K is the entry prefix K suffix: "data/" "", ".data/"
     * ".storage". */
    const char *storage_prefix, *storage_suffix;
    /* libtorch's dialect (data.pkl, constants.pkl): enums are called without a
     * tuple. */
    bool is_torchscript;
    /* Entries of storages may be shorter than they say: then there are no bytes. */
    bool storages_may_be_empty;
    /* May this name that calls.def does not know be in the pickle?  NULL: no
     * such name may.  A name that may not is an error with its position. */
    bool (*is_allowed)(void *user, ig_str module, ig_str name);
    /* Of a name that may not: why a file of this kind rightly has it (UNSUPPORTED);
     * NULL: it has no business there (INVALID). */
    const char *(*limit_of)(void *user, ig_str module, ig_str name);
    void *user;
    const char *why_not; /* what such an error says of the name; may be NULL */
} ig_pickle_options;

void ig_pickle_set_init(ig_pickle_set *set, ig_archive *archive);
/* Without an archive: any use of a storage is an error. */
void ig_pickle_set_init_bare(ig_pickle_set *set, ig_context *context, ig_arena *arena);
/* Reads one pickle, all of `bytes`.  They outlive the values, which borrow from
 * them. */
ig_status ig_pickle_read(ig_pickle_set *set, ig_str bytes,
                         const ig_pickle_options *options, ig_py **out_value);
/* FOLDER + "data.pkl" or "constants.pkl" or "traced_inputs.pkl" of a TorchScript
 * archive, storages and names as they are there.  In a package `folder` is
 * ".data/ts_code/0/"; else it is "". */
ig_status ig_pickle_read_torchscript(ig_pickle_set *set, const char *folder,
                                     const char *name, ig_py **out_value);

/* ---- looking ---- */

const char *ig_py_kind_name(ig_py_kind kind); /* "int", "tensor" … never NULL */
/* The value of a string key of a DICT, or of an attribute of an OBJECT (whose state is
 * a DICT) or CALL with such a state; NULL when there is none. */
ig_py *ig_py_get(const ig_py *value, const char *key);
bool ig_py_is_str(const ig_py *value, const char *text);
/* Is `name` one of "a|b|c"? */
bool ig_py_name_is_one_of(ig_str name, const char *alternatives);
bool ig_py_is_global(const ig_py *value, const char *module, const char *name);
/* "__torch__.a.b.Net" of a GLOBAL, of an OBJECT's or ENUM's class, of of a CALL's
 * function; else NULL.  In `arena`. */
const char *ig_py_path(const ig_py *value, ig_arena *arena);
/* A torch.nn.Module that was pickled as a Python object?  (module.c) */
bool ig_py_is_module(const ig_py *value);
/* Does it run functions before or after its forward? */
bool ig_py_has_hooks(const ig_py *module);
/* What torch.nn.Module keeps about itself, which no author's code uses? */
bool ig_py_is_kept_by_torch(ig_str name);
/* A GraphModule of torch.fx, pickled as its attributes and the module that holds its
 * generated forward, as an object of a class of that module; else NULL. */
ig_py *ig_py_graph_module(const ig_py *value, ig_arena *arena);
/* Counts the elements of a view of which all but `count` is set, and finds that each is
 * in the storage.  NULL, or the error: words after "a tensor", maybe in `arena`. */
const char *ig_py_tensor_measure(ig_py_tensor *tensor, ig_arena *arena);
/* True for a view without gaps in row-major order. */
bool ig_py_tensor_is_contiguous(const ig_py_tensor *tensor);
/* The elements in row-major order: borrowed where the storage holds them so (then with
 * the offset in the file), else gathered into `arena`.  4- and 2-bit dtypes must be
 * contiguous (UNSUPPORTED).  `where` is for messages. */
ig_status ig_py_tensor_bytes(ig_context *context, ig_arena *arena,
                             const ig_py_tensor *tensor, const ig_location *where,
                             ig_archive_span *out_span);
/* Appends a value as Python would print it, shortened: at most `max` items of a
 * container and elements of a tensor. */
void ig_py_print(ig_writer *writer, const ig_py *value, size_t max);

#endif
