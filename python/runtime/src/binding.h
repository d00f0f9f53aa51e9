/* The runtime as a module of Python: what the parts of the extension share.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     module.c      the module, its exceptions
 *     program.c     class Program: opening, calling, describing
 *     session.c     sessions of a program, one a call in progress
 *     arguments.c   Python's values -> ig_call and flat inputs
 *     results.c     flat outputs -> Python's values
 *     outputs.c     arrays of the caller that outputs are written to
 *     maps.c        outputs that are lists of dicts
 *     tensor.c      class Tensor: an output's memory
 *     inspect.c     a call's flat values, and the cost of its steps
 *     exchange.c    tensors of other libraries: buffer protocol, DLPack
 *     text.c        tensors of strings
 *     bits.c        tensors whose elements are smaller than a byte
 *
 * The limited API of CPython 3.11 (abi3): one binary for it and all later versions.
 * All functions are called with the GIL held, unless they say otherwise; those that
 * return an object return a new reference, or NULL with an exception set; those that
 * return int, 0 or -1 with an exception set.
 */
#ifndef INGOT_PYTHON_BINDING_H
#define INGOT_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <ingot/runtime.h>
#include <ingot/tree.h>

#include <stdbool.h>

/* Hidden: the extension exports its init function only. */

/* ---- module.c ---- */

/* Sets the exception of a status: ingot_runtime.InvalidError and so on. */
void raise_status(ig_status status, const char *message);
/* Sets TypeError or ValueError for arguments that do not fit. */
void raise_argument(const char *message);
int add_exceptions(PyObject *module);

/* ---- exchange.c ---- */

/* An input's memory while a call uses it. */
typedef struct borrowed {
    Py_buffer buffer; /* of the buffer protocol */
    bool has_buffer;
    PyObject *capsule; /* of DLPack, or another owner, or NULL */
    void *copy;   /* of strings and of elements that do not lie row-major, or NULL */
    void *origin; /* of the latter: where they lie */
    int64_t strides[IG_MAX_RANK]; /* in bytes */
    size_t unit;                  /* bytes of an element */
    bool is_readonly;
    bool is_complex; /* then the view's last extent is 2: both parts */
    ig_view view;
    int input; /* index among the program's inputs, or -1 */
} borrowed;

/* How to make tensors of the library that an input came from: a function of DLPack's
 * exchange API, or NULL. */
typedef int (*make_tensor)(void *managed_tensor, void **out_object);

/* The function of a tensor type's library, or NULL without an exception. */
make_tensor maker_of_type(PyObject *type);

/* Is it an object that has elements (buffer or DLPack)? */
bool is_array(PyObject *object);
/* The TypeError of an object that borrow_array did not take, which stood at `place`
 * ("x"): what it is where it has no elements, else what was said of these. */
void refuse_array(const char *path, PyObject *object);
/* out->view: row-major, valid until `release_borrowed`.  *out_make is set when
 * the object's library has an exchange API.  `stream` is the session's, of a GPU, whose
 * memory is read where it is, behind what its owner has queued; NULL: the host's
 * alone. */
int borrow_array(PyObject *object, borrowed *out, make_tensor *out_make, void *stream);
/* Writes elements, of the same type and extents, to where the object's lie. */
int write_borrowed(const borrowed *to, const ig_view *from);
void release_borrowed(borrowed *which);

/* DLPack's DLManagedTensorVersioned (or DLManagedTensor) over memory that `owner` (a
 * reference is taken) keeps; NULL without an exception: DLPack has no such type. */
void *export_dlpack(const ig_view *view, PyObject *owner, bool is_versioned);

/* ---- bits.c ---- */

/* b->view, of unsigned integers that are the bits of elements, becomes one of `dtype`:
 * packed, in b->copy, where these are smaller than a byte. */
int pack_elements(borrowed *b, int32_t dtype);
/* A Tensor of bytes, one for each element of such a view, with the elements' signs. */
PyObject *unpack_elements(const ig_view *view);

/* ---- text.c ---- */

/* Has a buffer of this format strings: numpy's `object`, 'U', 'S'? */
bool is_text_format(const char *format);
/* b->view, with the extents, strides and `unit` of such a buffer, becomes one of
 * IG_STR8 over a copy of the strings, b->copy.  TypeError or ValueError with the place
 * of an element that is not a string or has a NUL. */
int make_texts(borrowed *b, const char *format);
/* A copy of the texts of such a view in one block, to be freed; NULL: no memory. */
void *copy_texts(const ig_view *view);
/* They as a list of str, row-major. */
PyObject *list_of_strs(const ig_view *view);
/* The same of any array that a call takes: the module's function `strings`. */
PyObject *strings_of_array(PyObject *unused, PyObject *array);

/* ---- spares.c: all under the GIL ---- */

/* A block for each output of a session, which its next result is written to. */
typedef struct spare_blocks {
    long owners; /* the session's slot, and Tensors in such blocks */
    size_t count;
    struct {
        size_t size;  /* bytes of each result; 0: they are copied from the session's */
        void *memory; /* of a result that is gone, or NULL */
    } blocks[];
} spare_blocks;

/* With one owner; NULL without an exception: there is no memory. */
spare_blocks *spares_of(const ig_program *program);
/* Removes one owner. */
void spares_release(spare_blocks *spares);
/* Gives outputs of known size that have no memory some, and with it a capacity. */
int spares_take(spare_blocks *spares, ig_view *outputs);
/* The memory of outputs that still have a capacity. */
void spares_take_back(spare_blocks *spares, ig_view *outputs);
/* A block of that output. */
void spares_give(spare_blocks *spares, size_t index, void *memory);

/* ---- tensor.c ---- */

extern PyType_Spec tensor_spec;
extern PyObject *tensor_type;
/* A Tensor with a copy of the view's elements. */
PyObject *tensor_of_view(const ig_view *view);
/* A Tensor in the view's memory, a block of that output, which it gives back. */
PyObject *tensor_in_block(const ig_view *view, spare_blocks *home, size_t index);
const ig_view *tensor_view(PyObject *tensor);
/* "f32" of IG_F32, or NULL. */
const char *dtype_text(int32_t dtype);
/* Can it be read by the buffer protocol? */
bool tensor_has_format(PyObject *tensor);
/* IG_BF16 of "bfloat16" and the like, names of ml_dtypes; else 0.  And the reverse, or
 * NULL. */
int32_t extended_dtype(const char *name);
const char *extended_name(int32_t dtype);
/* A tensor of such a type as one of unsigned integers, one an element.  Takes it
 * over. */
PyObject *tensor_take_bits(PyObject *tensor);

/* ---- session.c ---- */

/* What a call in progress uses: taken from its program, and given back. */
typedef struct session_slot {
    ig_session *session;
    ig_call *call;
    ig_view *outputs;
    spare_blocks *spares; /* for them */
    size_t output_count;
    PyObject *maps;   /* of maps_of_outputs */
    bool is_flat;     /* no call's tree (ONNX): a tuple of outputs, or the one */
    borrowed *inputs; /* one for each tensor that was put */
    size_t input_count, input_room;
    size_t target_count; /* the last inputs: arrays that outputs are written to */
    void *stream;        /* of the session, or NULL */
    make_tensor make; /* of the first input whose library has one, else the program's */
    struct session_slot *next;
} session_slot;

session_slot *slot_create(ig_program *program, ig_thread_pool *pool, int threads);
void slot_destroy(session_slot *slot);
/* Room for one more input. */
borrowed *slot_add_input(session_slot *slot);
void slot_release_inputs(session_slot *slot);
/* Outputs that no Tensor has taken over; before the inputs, behind which arrays of the
 * caller stand. */
void slot_release_outputs(session_slot *slot);
/* One run, without the GIL; slot->outputs are the slot's until the next one: those with
 * a capacity in arrays of the caller or blocks of its spares, the others in the
 * session's memory. */
int slot_run(session_slot *slot, const ig_view *inputs, size_t count);

/* ---- maps.c ---- */

/* A list: of each output the keys of the dicts that it is a list of, a tuple, or
 * None. */
PyObject *maps_of_outputs(const ig_program *opened);
/* A dict of these keys for each row of the output. */
PyObject *read_maps(const ig_view *view, PyObject *keys);

/* ---- arguments.c, results.c, outputs.c ---- */

/* Puts args and kwargs; *out_inputs are the call's. */
int put_arguments(session_slot *slot, PyObject *args, PyObject *kwargs,
                  ig_view **out_inputs, size_t *out_count);
/* One value of any kind. */
int put_value(session_slot *slot, PyObject *value);
/* The result's tree, its tensors made by slot->make, else numpy's arrays where numpy
 * was imported, else Tensors. */
PyObject *read_result(session_slot *slot);
/* One output as such a tensor, or as a list of dicts. */
PyObject *wrap_output(session_slot *slot, const ig_view *view);
/* Arrays of `out` (name -> array, or NULL) become the places of their outputs; after
 * the run, the list of all outputs, with these arrays in their places. */
int put_targets(session_slot *slot, const ig_program *opened, PyObject *out);
PyObject *read_outputs(session_slot *slot, const ig_program *opened, PyObject *out);
/* Writes outputs that are arguments after the call to the arguments' memory. */
int write_changed(session_slot *slot);

/* ---- program.c ---- */

extern PyType_Spec program_spec;
extern PyObject *program_type;
/* For a call; given back afterwards. */
session_slot *program_take_slot(PyObject *program);
void program_give_slot(PyObject *program, session_slot *slot);
const ig_program *program_opened(PyObject *program);

/* ---- inspect.c: methods of Program ---- */

/* (args, kwargs) -> (flat inputs, flat outputs), lists of Tensors. */
PyObject *program_record(PyObject *program, PyObject *args);
/* (args, kwargs, runs) -> (steps, nanoseconds of the runs). */
PyObject *program_profile(PyObject *program, PyObject *args);

#endif
