/* The kernel of a tree of bodies: kinematics and dynamics in flat arrays of float64.

   It computes what the NumPy functions of this folder compute, which are used where it is not built,
   and are the model that it is tested against. Beside them it has dynamics. Frames and signs:

       ground G ... M of the parent -- X_MpF --> F -- X_FM(q) --> M -- X_MB --> B

       motion (w, v)      angular velocity, then linear velocity; in the axes of the ground
       force (n, f)       moment, then force

   Kinematics have all motions about the origin of the ground, as `geometry/spatial.py`. Dynamics have
   motions and forces of a body about the origin of its M, in the axes of the ground, with arms
   r = R_GMp p_MpM between neighbours: no number grows with the distance from the origin of the
   ground, so precision does not depend on it. Accelerations are of the points themselves:

       w  = w' + W                          W, L = sums of R_GF hw u, R_GF hv u
       v  = v' + w' x r + L                 ' : of the parent, about its own M
       A  = A' + (0, alpha' x r) + H udot + b
       b  = (w' x W + R_GF h'w u,  w' x (w' x r) + 2 w' x L + R_GF h'v u)

   Arrays are contiguous buffers of float64 (and of intp), whose sizes are checked at the border. The
   kernel keeps no reference to them, has no global state, and holds the lock of the interpreter.

   Sources: R. Featherstone, Rigid Body Dynamics Algorithms (2008): chapter 5 (RNEA), 6 (CRBA) and 7
   (articulated bodies); A. Jain, Robot and Multibody Dynamics (2011), chapters 5 to 7; formulas of
   orientations as in `geometry/orientation.py` and `numerics/quaternions.py`. */

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ------------------------------------------------------------------ vectors and poses

   Vectors have 3 numbers, matrices 9 by rows, poses 16 by rows, as homogeneous matrices. */

static inline double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double dot6(const double *a, const double *b)
{
    return dot(a, b) + dot(a + 3, b + 3);
}

static inline void add(double *sum, const double *a, double factor)
{
    for (int i = 0; i < 3; i++)
        sum[i] += factor * a[i];
}

static inline void add6(double *sum, const double *a, double factor)
{
    for (int i = 0; i < 6; i++)
        sum[i] += factor * a[i];
}

static inline void cross(const double *a, const double *b, double *product)
{
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void add_cross(double *sum, const double *a, const double *b)
{
    double product[3];
    cross(a, b, product);
    add(sum, product, 1.0);
}

/* The vector R v, for the rotation of a pose. */
static inline void rotated(const double *pose, const double *v, double *product)
{
    for (int i = 0; i < 3; i++)
        product[i] = dot(pose + 4 * i, v);
}

/* The origin of a pose: its last column. */
static inline void origin_of(const double *pose, double *origin)
{
    for (int i = 0; i < 3; i++)
        origin[i] = pose[4 * i + 3];
}

/* The vector a v, for a matrix of 9 numbers. */
static inline void times(const double *a, const double *v, double *product)
{
    for (int i = 0; i < 3; i++)
        product[i] = dot(a + 3 * i, v);
}

static inline void add_times(double *sum, const double *a, const double *v)
{
    for (int i = 0; i < 3; i++)
        sum[i] += dot(a + 3 * i, v);
}

static inline void add_transposed_times(double *sum, const double *a, const double *v)
{
    for (int i = 0; i < 3; i++)
        add(sum, a + 3 * i, v[i]);
}

static const double IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

/* The product of two poses. */
static inline void compose(const double *a, const double *b, double *product)
{
    for (int i = 0; i < 3; i++) {
        const double *row = a + 4 * i;
        for (int j = 0; j < 4; j++)
            product[4 * i + j] = row[0] * b[j] + row[1] * b[4 + j] + row[2] * b[8 + j];
        product[4 * i + 3] += row[3];
    }
    memcpy(product + 12, IDENTITY + 12, 4 * sizeof(double));
}

/* ------------------------------------------------------------------ mobilizers */

/* The codes that `tree/compiled.py` gives to mobilizers. Those of GIVEN are computed by Python. */
enum kind {
    GIVEN,
    WELD,
    PIN,
    SLIDER,
    CYLINDER,
    PLANAR,
    TRANSLATION,
    UNIVERSAL,
    GIMBAL,
    BALL,
    FREE,
    EULER_BALL,
    EULER_FREE,
    KINDS
};

/* nq and nu by kind. */
static const int SIZES[KINDS][2] = {
    {-1, -1}, {0, 0}, {1, 1}, {1, 1}, {2, 2}, {3, 3}, {3, 3},
    {2, 2},   {3, 3}, {4, 3}, {7, 6}, {3, 3}, {6, 6},
};

#define MOST_U 6 /* of a joint, in dynamics */

static const double SHORTEST = 1e-100, LONGEST = 1e100; /* as in geometry/orientation.py */
static const double SINGULAR = 1e-12;                   /* cos of the second angle, likewise */

/* Rz(angle), at the origin. */
static void turn_about_z(double angle, double *pose)
{
    double c = cos(angle), s = sin(angle);
    pose[0] = c, pose[1] = -s;
    pose[4] = s, pose[5] = c;
}

static void place_at(const double *p, double *pose)
{
    pose[3] = p[0], pose[7] = p[1], pose[11] = p[2];
}

/* Rx(q0) Ry(q1). */
static void turn_by_two_angles(const double *q, double *pose)
{
    double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]);
    pose[0] = c2, pose[1] = 0.0, pose[2] = s2;
    pose[4] = s1 * s2, pose[5] = c1, pose[6] = -s1 * c2;
    pose[8] = -c1 * s2, pose[9] = s1, pose[10] = c1 * c2;
}

/* Rx(q0) Ry(q1) Rz(q2). */
static void turn_by_angles(const double *q, double *pose)
{
    double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]);
    double s3 = sin(q[2]), c3 = cos(q[2]);
    pose[0] = c2 * c3, pose[1] = -c2 * s3, pose[2] = s2;
    pose[4] = c1 * s3 + s1 * s2 * c3, pose[5] = c1 * c3 - s1 * s2 * s3, pose[6] = -s1 * c2;
    pose[8] = s1 * s3 - c1 * s2 * c3, pose[9] = s1 * c3 + c1 * s2 * s3, pose[10] = c1 * c2;
}

/* The rotation of a quaternion of any length; 0 if that is zero or out of range. */
static int turn_by_quaternion(const double *e, double *pose)
{
    double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3];
    if (!(SHORTEST * SHORTEST < square && square < LONGEST * LONGEST))
        return 0;
    double scale = 2.0 / square;
    double s1 = scale * e[1], s2 = scale * e[2], s3 = scale * e[3];
    double xx = s1 * e[1], yy = s2 * e[2], zz = s3 * e[3];
    double xy = s1 * e[2], xz = s1 * e[3], yz = s2 * e[3];
    double wx = s1 * e[0], wy = s2 * e[0], wz = s3 * e[0];
    pose[0] = 1.0 - yy - zz, pose[1] = xy - wz, pose[2] = xz + wy;
    pose[4] = xy + wz, pose[5] = 1.0 - xx - zz, pose[6] = yz - wx;
    pose[8] = xz - wy, pose[9] = yz + wx, pose[10] = 1.0 - xx - yy;
    return 1;
}

/* X_FM of a mobilizer; 0 if it has none at these q. */
static int pose_across(enum kind kind, const double *q, double *pose)
{
    memcpy(pose, IDENTITY, sizeof IDENTITY);
    switch (kind) {
    case PIN:
        turn_about_z(q[0], pose);
        break;
    case SLIDER:
        pose[3] = q[0];
        break;
    case CYLINDER:
        turn_about_z(q[0], pose);
        pose[11] = q[1];
        break;
    case PLANAR:
        turn_about_z(q[0], pose);
        pose[3] = q[1], pose[7] = q[2];
        break;
    case TRANSLATION:
        place_at(q, pose);
        break;
    case UNIVERSAL:
        turn_by_two_angles(q, pose);
        break;
    case GIMBAL:
    case EULER_BALL:
        turn_by_angles(q, pose);
        break;
    case EULER_FREE:
        turn_by_angles(q, pose);
        place_at(q + 3, pose);
        break;
    case BALL:
        return turn_by_quaternion(q, pose);
    case FREE:
        place_at(q + 4, pose);
        return turn_by_quaternion(q, pose);
    default: /* WELD; GIVEN has been handed over */
        break;
    }
    return 1;
}

/* The axes of a Universal or a Gimbal in F, rows of 6 numbers. */
static void varying_axes(enum kind kind, const double *q, double *axes)
{
    double s1 = sin(q[0]), c1 = cos(q[0]);
    memset(axes, 0, (kind == GIMBAL ? 18 : 12) * sizeof(double));
    axes[0] = 1.0;
    axes[7] = c1, axes[8] = s1;
    if (kind == GIMBAL) {
        double s2 = sin(q[1]), c2 = cos(q[1]);
        axes[12] = s2, axes[13] = -s1 * c2, axes[14] = c1 * c2;
    }
}

/* The change of these axes along the motion, times u, in F; it is a rotation. */
static void varying_axes_rate(enum kind kind, const double *q, const double *u, double *rate)
{
    double s1 = sin(q[0]), c1 = cos(q[0]), first = u[0] * u[1];
    rate[0] = 0.0, rate[1] = -s1 * first, rate[2] = c1 * first;
    if (kind == GIMBAL) {
        double s2 = sin(q[1]), c2 = cos(q[1]), second = u[0] * u[2], third = u[1] * u[2];
        rate[0] += c2 * third;
        rate[1] += -c1 * c2 * second + s1 * s2 * third;
        rate[2] += -s1 * c2 * second - c1 * s2 * third;
    }
}

/* N(e) w of a quaternion, which is linear in e. */
static void quaternion_rate(const double *e, const double *w, double *rate)
{
    rate[0] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
    rate[1] = 0.5 * (e[0] * w[0] + e[3] * w[1] - e[2] * w[2]);
    rate[2] = 0.5 * (-e[3] * w[0] + e[0] * w[1] + e[1] * w[2]);
    rate[3] = 0.5 * (e[2] * w[0] - e[1] * w[1] + e[0] * w[2]);
}

/* N w of body-fixed x-y-z angles; 0 where N is singular. */
static int angle_rates(const double *q, const double *w, double *rates)
{
    double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]);
    if (fabs(c2) < SINGULAR)
        return 0;
    double outward = (c1 * w[2] - s1 * w[1]) / c2;
    rates[0] = w[0] - s2 * outward;
    rates[1] = c1 * w[1] + s1 * w[2];
    rates[2] = outward;
    return 1;
}

/* dN/dt w of these angles, added; 0 where N is singular. */
static int add_angle_accelerations(const double *q, const double *rates, const double *w, double *sum)
{
    double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]);
    if (fabs(c2) < SINGULAR)
        return 0;
    double da = rates[0], db = rates[1], t2 = s2 / c2, e2 = 1.0 / (c2 * c2);
    sum[0] += (c1 * t2 * da + s1 * e2 * db) * w[1] + (s1 * t2 * da - c1 * e2 * db) * w[2];
    sum[1] += -s1 * da * w[1] + c1 * da * w[2];
    sum[2] += -(c1 * da + s1 * t2 * db) / c2 * w[1] - (s1 * da - c1 * t2 * db) / c2 * w[2];
    return 1;
}

/* ------------------------------------------------------------------ the border: arrays

   Arrays of a call are taken one after the other; the first that is wrong sets the error. All are
   released together. */

#define MOST_ARRAYS 16

typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int count;
    int failed;
} Arrays;

static void release(Arrays *arrays)
{
    while (arrays->count > 0)
        PyBuffer_Release(&arrays->views[--arrays->count]);
}

static int is_float(const Py_buffer *view)
{
    return view->itemsize == sizeof(double) && view->format != NULL && strcmp(view->format, "d") == 0;
}

static int is_index(const Py_buffer *view)
{
    return view->itemsize == sizeof(Py_ssize_t) && view->format != NULL && view->format[0] != '\0' &&
           strchr("lqin", view->format[0]) != NULL && view->format[1] == '\0';
}

/* The view of a contiguous array of any size; NULL with an error. */
static Py_buffer *take(Arrays *arrays, PyObject *object, int flags, int is_of_floats, const char *name)
{
    if (arrays->failed)
        return NULL;
    Py_buffer *view = &arrays->views[arrays->count];
    if (arrays->count == MOST_ARRAYS ||
        PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "too many arrays");
        arrays->failed = 1;
        return NULL;
    }
    arrays->count++;
    if (is_of_floats ? is_float(view) : is_index(view))
        return view;
    PyErr_Format(PyExc_TypeError, "%s: expected an array of %s", name, is_of_floats ? "float64" : "intp");
    arrays->failed = 1;
    return NULL;
}

/* The data of a view that has to have some number of items, or -1 for any; NULL with an error. */
static void *data_of(Arrays *arrays, Py_buffer *view, Py_ssize_t size, const char *name)
{
    if (view == NULL)
        return NULL;
    Py_ssize_t found = view->len / view->itemsize;
    if (found == size)
        return view->buf;
    PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd", name, size, found);
    arrays->failed = 1;
    return NULL;
}

static const double *input(Arrays *arrays, PyObject *object, Py_ssize_t size, const char *name)
{
    return data_of(arrays, take(arrays, object, 0, 1, name), size, name);
}

static double *output(Arrays *arrays, PyObject *object, Py_ssize_t size, const char *name)
{
    return data_of(arrays, take(arrays, object, PyBUF_WRITABLE, 1, name), size, name);
}

/* As `input`; NULL without an error for None. */
static const double *optional(Arrays *arrays, PyObject *object, Py_ssize_t size, const char *name)
{
    return Py_IsNone(object) ? NULL : input(arrays, object, size, name);
}

/* An array of rows of some width, whose number is found. */
static const double *rows_of(
    Arrays *arrays, PyObject *object, Py_ssize_t width, Py_ssize_t *count, const char *name)
{
    Py_buffer *view = take(arrays, object, 0, 1, name);
    *count = view == NULL ? 0 : view->len / (Py_ssize_t)sizeof(double) / width;
    return data_of(arrays, view, *count * width, name);
}

/* Indices from 0 to below a limit. */
static const Py_ssize_t *indices(
    Arrays *arrays, PyObject *object, Py_ssize_t count, Py_ssize_t limit, const char *name)
{
    const Py_ssize_t *found = data_of(arrays, take(arrays, object, 0, 0, name), count, name);
    for (Py_ssize_t i = 0; found != NULL && i < count; i++) {
        if (found[i] < 0 || found[i] >= limit) {
            PyErr_Format(PyExc_ValueError, "%s: %zd is out of range", name, found[i]);
            arrays->failed = 1;
            return NULL;
        }
    }
    return found;
}

static int has_arguments(Py_ssize_t count, Py_ssize_t expected)
{
    if (count == expected)
        return 1;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", expected, count);
    return 0;
}

/* Release all arrays, and return None, or the error. */
static PyObject *finish(Arrays *arrays)
{
    release(arrays);
    return arrays->failed ? NULL : Py_NewRef(Py_None);
}

/* The same, and return a row. */
static PyObject *finish_with(Arrays *arrays, Py_ssize_t row)
{
    release(arrays);
    return arrays->failed ? NULL : PyLong_FromSsize_t(row);
}

/* Memory for some numbers, which `PyMem_Free` frees; NULL with an error. */
static void *memory(Arrays *arrays, size_t size)
{
    void *found = arrays->failed ? NULL : PyMem_Malloc(size > 0 ? size : 1);
    if (found == NULL && !arrays->failed) {
        PyErr_NoMemory();
        arrays->failed = 1;
    }
    return found;
}

/* ------------------------------------------------------------------ the tree */

typedef struct {
    Py_ssize_t parent; /* a row before this one */
    Py_ssize_t end;    /* of the rows outboard of it */
    enum kind kind;
    Py_ssize_t q, nq, u, nu; /* the places and numbers of its q and u */
    Py_ssize_t given;        /* its number among the joints that are GIVEN */
} Joint;

#define COLUMNS 7 /* of the table of joints, in the order of the fields above */

typedef struct {
    PyObject_HEAD
    Py_ssize_t rows, nq, nu, given;
    Py_ssize_t most_u;
    Joint *joints;    /* (rows) */
    Py_ssize_t *row_of_q;
    double *inboard;  /* (rows, 4, 4) X_MpF */
    double *outboard; /* (rows, 4, 4) X_MB, or NULL if all are 1 */
    double *axes;     /* (nu, 6) in F, where they are constant */
} Tree;

static void tree_dealloc(Tree *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyMem_Free(self->joints);
    PyMem_Free(self->row_of_q);
    PyMem_Free(self->inboard);
    PyMem_Free(self->outboard);
    PyMem_Free(self->axes);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Some fields of a joint contradict each other, or those of the rows before. */
static int is_wrong(const Tree *tree, Py_ssize_t row)
{
    const Joint *joint = &tree->joints[row], *parent = &tree->joints[joint->parent];
    if (joint->kind < 0 || joint->kind >= KINDS || joint->nq < 0 || joint->nu < 0)
        return 1;
    if (joint->q < 0 || joint->q > tree->nq - joint->nq || joint->u < 0 || joint->u > tree->nu - joint->nu)
        return 1;
    if (joint->kind != GIVEN && (joint->nq != SIZES[joint->kind][0] || joint->nu != SIZES[joint->kind][1]))
        return 1;
    return joint->end <= row || joint->end > (row == 0 ? tree->rows : parent->end);
}

/* Fill in the joints of a table of `COLUMNS` numbers a row; 0 with an error. */
static int number_joints(Tree *tree, const Py_ssize_t *table)
{
    for (Py_ssize_t row = 0; row < tree->rows; row++, table += COLUMNS) {
        Joint *joint = &tree->joints[row];
        int is_known = table[2] >= 0 && table[2] < KINDS;
        if (is_known && (row == 0 ? table[0] == 0 && table[2] == WELD : table[0] >= 0 && table[0] < row)) {
            *joint = (Joint){table[0], table[1], (enum kind)table[2], table[3],
                             table[4], table[5], table[6], tree->given};
            tree->given += joint->kind == GIVEN;
            tree->most_u = joint->nu > tree->most_u ? joint->nu : tree->most_u;
            if (!is_wrong(tree, row)) {
                for (Py_ssize_t i = joint->q; i < joint->q + joint->nq; i++)
                    tree->row_of_q[i] = row;
                continue;
            }
        }
        PyErr_Format(PyExc_ValueError, "row %zd of the joints is not one of a tree", row);
        return 0;
    }
    return 1;
}

static double *copied(Arrays *arrays, const double *values, Py_ssize_t size)
{
    double *found = memory(arrays, (size_t)size * sizeof(double));
    if (found != NULL)
        memcpy(found, values, (size_t)size * sizeof(double));
    return found;
}

PyDoc_STRVAR(tree_doc, "Tree(joints, nq, inboard, outboard, axes)\n--\n\n"
                       "The constant tables of a tree of bodies; see kernel.pyi.");

static PyObject *tree_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *given_joints, *given_inboard, *given_outboard, *given_axes;
    Py_ssize_t nq;
    if (!PyArg_ParseTuple(
            args, "OnOOO", &given_joints, &nq, &given_inboard, &given_outboard, &given_axes))
        return NULL;
    Tree *self = (Tree *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL)
        return NULL;
    Arrays arrays = {.count = 0};
    const double *inboard = rows_of(&arrays, given_inboard, 16, &self->rows, "inboard");
    const double *outboard = optional(&arrays, given_outboard, 16 * self->rows, "outboard");
    const double *axes = rows_of(&arrays, given_axes, 6, &self->nu, "axes");
    Py_buffer *view = take(&arrays, given_joints, 0, 0, "joints");
    const Py_ssize_t *table = data_of(&arrays, view, COLUMNS * self->rows, "joints");
    self->nq = nq;
    self->joints = memory(&arrays, (size_t)self->rows * sizeof(Joint));
    if (!arrays.failed && (nq < 0 || (size_t)nq > PY_SSIZE_T_MAX / sizeof(double))) {
        PyErr_SetString(PyExc_ValueError, "nq: expected a number of coordinates, 0 or more");
        arrays.failed = 1;
    }
    self->row_of_q = memory(&arrays, (size_t)nq * sizeof(Py_ssize_t));
    if (!arrays.failed)
        memset(self->row_of_q, 0, (size_t)nq * sizeof(Py_ssize_t));
    if (!arrays.failed && !number_joints(self, table))
        arrays.failed = 1;
    if (!arrays.failed) {
        self->inboard = copied(&arrays, inboard, 16 * self->rows);
        self->outboard = outboard == NULL ? NULL : copied(&arrays, outboard, 16 * self->rows);
        self->axes = copied(&arrays, axes, 6 * self->nu);
    }
    release(&arrays);
    if (arrays.failed)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* ------------------------------------------------------------------ positions */

/* Poses of some rows; bodies is NULL where B is M for all. */
typedef struct {
    double *relative, *joints, *bodies;
} Poses;

/* The poses in a block of arrays for some number of rows, as `TreePoses` has them. */
static Poses poses_in(const Tree *tree, double *block, Py_ssize_t rows)
{
    return (Poses){block, block + 16 * rows, tree->outboard == NULL ? NULL : block + 32 * rows};
}

static Py_ssize_t size_of_poses(const Tree *tree, Py_ssize_t rows)
{
    return (tree->outboard == NULL ? 32 : 48) * rows;
}

/* The q of a joint differ. NaN always does. */
static int has_changed(const Joint *joint, const double *q, const double *before)
{
    for (Py_ssize_t i = joint->q; i < joint->q + joint->nq; i++)
        if (!(q[i] == before[i]))
            return 1;
    return 0;
}

/* Compute X_MpM = X_MpF X_FM of a row; 0 if the joint has no pose at its q. */
static int place_joint(
    const Tree *tree, Py_ssize_t row, const double *given, const double *q, double *relative)
{
    const Joint *joint = &tree->joints[row];
    const double *own = q + joint->q;
    double across[16];
    for (Py_ssize_t i = 0; i < joint->nq; i++)
        if (!isfinite(own[i]))
            return 0;
    if (joint->kind == GIVEN)
        memcpy(across, given + 12 * joint->given, 12 * sizeof(double));
    else if (!pose_across(joint->kind, own, across))
        return 0;
    compose(tree->inboard + 16 * row, across, relative);
    return 1;
}

/* Compute the poses of a range of rows, all that is outboard of the first; 0 if a joint has none.
   Without poses before, the first row is the ground. */
static int place_rows(
    const Tree *tree, Py_ssize_t start, Py_ssize_t end, const double *q, const double *given,
    const double *q_before, const Poses *before, const Poses *found)
{
    for (Py_ssize_t row = start; row < end; row++) {
        const Joint *joint = &tree->joints[row];
        double *relative = found->relative + 16 * (row - start), *frame = found->joints + 16 * (row - start);
        double *body = found->bodies == NULL ? NULL : found->bodies + 16 * (row - start);
        if (row == 0) {
            memcpy(relative, IDENTITY, sizeof IDENTITY);
            memcpy(frame, IDENTITY, sizeof IDENTITY);
            if (body != NULL)
                memcpy(body, IDENTITY, sizeof IDENTITY);
            continue;
        }
        if (before != NULL && !has_changed(joint, q, q_before))
            memcpy(relative, before->relative + 16 * row, sizeof IDENTITY);
        else if (!place_joint(tree, row, given, q, relative))
            return 0;
        const double *parent = joint->parent < start ? before->joints + 16 * joint->parent
                                                     : found->joints + 16 * (joint->parent - start);
        compose(parent, relative, frame);
        if (body != NULL)
            compose(frame, tree->outboard + 16 * row, body);
    }
    return 1;
}

static int append_range(PyObject *ranges, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *range = Py_BuildValue("(nn)", start, end);
    int failed = range == NULL || PyList_Append(ranges, range) < 0;
    Py_XDECREF(range);
    return !failed;
}

PyDoc_STRVAR(moved_doc, "List the ranges of rows that are outboard of joints with other q.");

static PyObject *tree_moved(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 2))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *before = input(&arrays, args[1], self->nq, "q before");
    char *is_moved = memory(&arrays, (size_t)self->rows);
    PyObject *ranges = arrays.failed ? NULL : PyList_New(0);
    if (ranges != NULL)
        memset(is_moved, 0, (size_t)self->rows);
    for (Py_ssize_t i = 0; ranges != NULL && i < self->nq; i++)
        if (!(q[i] == before[i])) /* NaN always differs */
            is_moved[self->row_of_q[i]] = 1;
    for (Py_ssize_t row = 0; ranges != NULL && row < self->rows;) {
        char *next = memchr(is_moved + row, 1, (size_t)(self->rows - row));
        if (next == NULL)
            break;
        Py_ssize_t start = next - is_moved;
        row = self->joints[start].end;
        if (!append_range(ranges, start, row))
            Py_CLEAR(ranges);
    }
    PyMem_Free(is_moved);
    release(&arrays);
    return ranges;
}

/* The bounds of a range of rows; 0 with an error. */
static int range_of(const Tree *tree, PyObject *range, Py_ssize_t *start, Py_ssize_t *end)
{
    if (!PyTuple_Check(range)) {
        PyErr_SetString(PyExc_TypeError, "ranges: expected pairs of rows");
        return 0;
    }
    if (!PyArg_ParseTuple(range, "nn", start, end))
        return 0;
    if (0 <= *start && *start < *end && *end <= tree->rows)
        return 1;
    PyErr_Format(PyExc_ValueError, "%zd to %zd is not a range of rows", *start, *end);
    return 0;
}

/* The number of rows in a list of ranges; -1 with an error. */
static Py_ssize_t rows_in(const Tree *tree, PyObject *ranges)
{
    Py_ssize_t rows = 0, start, end;
    if (!PyList_Check(ranges)) {
        PyErr_SetString(PyExc_TypeError, "ranges: expected a list");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(ranges); i++) {
        if (!range_of(tree, PyList_GetItem(ranges, i), &start, &end))
            return -1;
        rows += end - start;
    }
    return rows;
}

PyDoc_STRVAR(positions_doc, "Compute poses of ranges of rows; return False if a joint has none.");

static PyObject *tree_positions(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 6))
        return NULL;
    Py_ssize_t rows = rows_in(self, args[2]), start, end, at = 0;
    if (rows < 0)
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *given = optional(&arrays, args[1], 12 * self->given, "given");
    double *block = output(&arrays, args[3], size_of_poses(self, rows), "poses");
    const double *q_before = optional(&arrays, args[4], self->nq, "q before");
    double *block_before = NULL;
    if (q_before != NULL)
        block_before = (double *)input(&arrays, args[5], size_of_poses(self, self->rows), "poses before");
    if (!arrays.failed && given == NULL && self->given > 0) {
        PyErr_SetString(PyExc_ValueError, "given: the poses of joints are missing");
        arrays.failed = 1;
    }
    int is_placed = 1;
    Poses before = poses_in(self, block_before, self->rows);
    for (Py_ssize_t i = 0; !arrays.failed && is_placed && i < PyList_Size(args[2]); i++, at += end - start) {
        Poses found = poses_in(self, block, rows);
        if (!range_of(self, PyList_GetItem(args[2], i), &start, &end)) {
            arrays.failed = 1;
        } else if (start > 0 && q_before == NULL) {
            PyErr_SetString(PyExc_ValueError, "q before: expected an array, as rows are left out");
            arrays.failed = 1;
        } else {
            found.relative += 16 * at, found.joints += 16 * at;
            found.bodies = found.bodies == NULL ? NULL : found.bodies + 16 * at;
            is_placed = place_rows(
                self, start, end, q, given, q_before, q_before == NULL ? NULL : &before, &found);
        }
    }
    release(&arrays);
    return arrays.failed ? NULL : PyBool_FromLong(is_placed);
}

/* ------------------------------------------------------------------ motions */

/* R_GF of a joint, as a pose without an origin. */
static void rotation_of_f(const Tree *tree, Py_ssize_t row, const double *joints, double *rotation)
{
    const double *parent = joints + 16 * tree->joints[row].parent, *inboard = tree->inboard + 16 * row;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[4 * i + j] =
                parent[4 * i] * inboard[j] + parent[4 * i + 1] * inboard[4 + j] + parent[4 * i + 2] * inboard[8 + j];
}

/* The axes of a joint in the axes of the ground, about the origin of M: rows of 6 numbers. */
static void joint_axes(
    const Tree *tree, Py_ssize_t row, const double *rotation, const double *q, const double *given,
    double *axes)
{
    const Joint *joint = &tree->joints[row];
    double varying[18];
    const double *in_f = tree->axes + 6 * joint->u;
    if (joint->kind == UNIVERSAL || joint->kind == GIMBAL) {
        varying_axes(joint->kind, q + joint->q, varying);
        in_f = varying;
    } else if (joint->kind == GIVEN && given != NULL) {
        in_f = given + 6 * joint->u;
    }
    for (Py_ssize_t i = 0; i < 2 * joint->nu; i++)
        rotated(rotation, in_f + 3 * i, axes + 3 * i);
}

/* The change of the axes of a joint in F, times u, in the axes of the ground; 0 if there is none. */
static int joint_axes_rate(
    const Tree *tree, Py_ssize_t row, const double *joints, const double *q, const double *u,
    const double *given, double *rate)
{
    const Joint *joint = &tree->joints[row];
    double in_f[6] = {0}, rotation[12];
    if (joint->kind == UNIVERSAL || joint->kind == GIMBAL)
        varying_axes_rate(joint->kind, q + joint->q, u + joint->u, in_f);
    else if (joint->kind == GIVEN && given != NULL)
        memcpy(in_f, given + 6 * joint->given, sizeof in_f);
    else
        return 0;
    rotation_of_f(tree, row, joints, rotation);
    rotated(rotation, in_f, rate);
    rotated(rotation, in_f + 3, rate + 3);
    return 1;
}

PyDoc_STRVAR(axes_doc, "Compute the axes of all joints about the origin of the ground.");

static PyObject *tree_axes(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 4))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *joints = input(&arrays, args[1], 16 * self->rows, "joints");
    const double *given = optional(&arrays, args[2], 6 * self->nu, "given axes");
    double *axes = output(&arrays, args[3], 6 * self->nu, "axes");
    for (Py_ssize_t row = 1; !arrays.failed && row < self->rows; row++) {
        const Joint *joint = &self->joints[row];
        double rotation[12], origin[3];
        double *own = axes + 6 * joint->u;
        if (joint->nu == 0)
            continue;
        rotation_of_f(self, row, joints, rotation);
        origin_of(joints + 16 * row, origin);
        joint_axes(self, row, rotation, q, given, own);
        for (Py_ssize_t i = 0; i < joint->nu; i++)
            add_cross(own + 6 * i + 3, origin, own + 6 * i);
    }
    return finish(&arrays);
}

/* The sum of axes times u of a joint. */
static void joint_motion(const Joint *joint, const double *axes, const double *u, double *motion)
{
    memset(motion, 0, 6 * sizeof(double));
    for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
        add6(motion, axes + 6 * i, u[i]);
}

PyDoc_STRVAR(motions_doc, "Compute the motions of all bodies about the origin of the ground.");

static PyObject *tree_motions(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 3))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *axes = input(&arrays, args[0], 6 * self->nu, "axes");
    const double *u = input(&arrays, args[1], self->nu, "u");
    double *motions = output(&arrays, args[2], 6 * self->rows, "motions");
    if (!arrays.failed && self->rows > 0)
        memset(motions, 0, 6 * sizeof(double));
    for (Py_ssize_t row = 1; !arrays.failed && row < self->rows; row++) {
        const Joint *joint = &self->joints[row];
        double relative[6];
        joint_motion(joint, axes, u, relative);
        for (int i = 0; i < 6; i++)
            motions[6 * row + i] = motions[6 * joint->parent + i] + relative[i];
    }
    return finish(&arrays);
}

PyDoc_STRVAR(bias_doc, "Compute the derivatives of motions where udot is 0.");

static PyObject *tree_bias(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 7))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *joints = input(&arrays, args[1], 16 * self->rows, "joints");
    const double *axes = input(&arrays, args[2], 6 * self->nu, "axes");
    const double *motions = input(&arrays, args[3], 6 * self->rows, "motions");
    const double *u = input(&arrays, args[4], self->nu, "u");
    const double *given = optional(&arrays, args[5], 6 * self->given, "given rates");
    double *bias = output(&arrays, args[6], 6 * self->rows, "bias");
    if (!arrays.failed && self->rows > 0)
        memset(bias, 0, 6 * sizeof(double));
    for (Py_ssize_t row = 1; !arrays.failed && row < self->rows; row++) {
        const Joint *joint = &self->joints[row];
        const double *turning = motions + 6 * joint->parent, *motion = motions + 6 * row;
        double own[6] = {0}, relative[6], origin[3], speed[3], rate[6];
        double *sum = bias + 6 * row;
        memcpy(sum, bias + 6 * joint->parent, 6 * sizeof(double));
        if (joint->nu == 0)
            continue;
        origin_of(joints + 16 * row, origin);
        joint_motion(joint, axes, u, relative);
        add_cross(relative + 3, relative, origin); /* of the origin of M, in F */
        memcpy(speed, motion + 3, sizeof speed);
        add_cross(speed, motion, origin);
        cross(turning, relative, own);
        cross(turning, relative + 3, own + 3);
        add_cross(own + 3, speed, relative);
        if (joint_axes_rate(self, row, joints, q, u, given, rate))
            add6(own, rate, 1.0);
        add_cross(own + 3, origin, own);
        add6(sum, own, 1.0);
    }
    return finish(&arrays);
}

PyDoc_STRVAR(generalized_doc, "Compute the forces on u of spatial forces about the origin of the ground.");

static PyObject *tree_generalized_forces(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 3))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *axes = input(&arrays, args[0], 6 * self->nu, "axes");
    const double *forces = input(&arrays, args[1], 6 * self->rows, "forces");
    double *found = output(&arrays, args[2], self->nu, "generalized forces");
    double *sums = memory(&arrays, 6 * (size_t)self->rows * sizeof(double));
    if (!arrays.failed)
        memcpy(sums, forces, 6 * (size_t)self->rows * sizeof(double));
    for (Py_ssize_t row = self->rows - 1; !arrays.failed && row > 0; row--) {
        const Joint *joint = &self->joints[row];
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            found[i] = dot6(axes + 6 * i, sums + 6 * row);
        add6(sums + 6 * joint->parent, sums + 6 * row, 1.0);
    }
    PyMem_Free(sums);
    return finish(&arrays);
}

/* ------------------------------------------------------------------ rates of q */

/* qdot = N u of a joint; 0 where N is singular. The N of GIVEN counts as 1 here. */
static int joint_qdot(const Joint *joint, const double *q, const double *u, double *qdot)
{
    switch (joint->kind) {
    case BALL:
        quaternion_rate(q, u, qdot);
        return 1;
    case FREE:
        quaternion_rate(q, u, qdot);
        memcpy(qdot + 4, u + 3, 3 * sizeof(double));
        return 1;
    case EULER_BALL:
        return angle_rates(q, u, qdot);
    case EULER_FREE:
        memcpy(qdot + 3, u + 3, 3 * sizeof(double));
        return angle_rates(q, u, qdot);
    default:
        for (Py_ssize_t i = 0; i < joint->nq; i++)
            qdot[i] = i < joint->nu ? u[i] : NAN;
        return 1;
    }
}

PyDoc_STRVAR(qdot_doc, "Compute qdot = N u; return the row of a joint whose N is singular, or 0.");

static PyObject *tree_qdot(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 3))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *u = input(&arrays, args[1], self->nu, "u");
    double *qdot = output(&arrays, args[2], self->nq, "qdot");
    Py_ssize_t row = arrays.failed ? self->rows : 1;
    for (; row < self->rows; row++) {
        const Joint *joint = &self->joints[row];
        if (!joint_qdot(joint, q + joint->q, u + joint->u, qdot + joint->q))
            break;
    }
    return finish_with(&arrays, row < self->rows ? row : 0);
}

/* dN/dt u of a joint, added; 0 where N is singular. */
static int add_joint_qdotdot(
    const Joint *joint, const double *q, const double *qdot, const double *u, double *sum)
{
    double rate[4];
    switch (joint->kind) {
    case BALL:
    case FREE:
        quaternion_rate(qdot, u, rate);
        for (int i = 0; i < 4; i++)
            sum[i] += rate[i];
        return 1;
    case EULER_BALL:
    case EULER_FREE:
        return add_angle_accelerations(q, qdot, u, sum);
    default:
        return 1;
    }
}

static int are_finite(const double *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

PyDoc_STRVAR(qdotdot_doc, "Compute N udot + dN/dt u; return the row of a joint whose N is singular, or 0.");

static PyObject *tree_qdotdot(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 5))
        return NULL;
    Arrays arrays = {.count = 0};
    const double *q = input(&arrays, args[0], self->nq, "q");
    const double *qdot = input(&arrays, args[1], self->nq, "qdot");
    const double *u = input(&arrays, args[2], self->nu, "u");
    const double *udot = input(&arrays, args[3], self->nu, "udot");
    double *qdotdot = output(&arrays, args[4], self->nq, "qdotdot");
    Py_ssize_t row = arrays.failed ? self->rows : 1;
    for (; row < self->rows; row++) {
        const Joint *joint = &self->joints[row];
        const double *own = q + joint->q;
        double *found = qdotdot + joint->q;
        int is_related = joint->kind >= BALL;
        if (is_related && !are_finite(udot + joint->u, joint->nu)) {
            for (Py_ssize_t i = 0; i < joint->nq; i++)
                found[i] = NAN;
            continue;
        }
        if (!joint_qdot(joint, own, udot + joint->u, found) ||
            !add_joint_qdotdot(joint, own, qdot + joint->q, u + joint->u, found))
            break;
    }
    return finish_with(&arrays, row < self->rows ? row : 0);
}

/* ------------------------------------------------------------------ stations */

PyDoc_STRVAR(station_positions_doc, "Compute the positions of stations in ground.");

static PyObject *station_positions(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 4))
        return NULL;
    Arrays arrays = {.count = 0};
    Py_ssize_t stations, bodies;
    const double *points = rows_of(&arrays, args[1], 4, &stations, "points");
    const double *poses = rows_of(&arrays, args[2], 16, &bodies, "poses");
    const Py_ssize_t *rows = indices(&arrays, args[0], stations, bodies, "rows");
    double *found = output(&arrays, args[3], 3 * stations, "positions");
    for (Py_ssize_t k = 0; !arrays.failed && k < stations; k++) {
        const double *pose = poses + 16 * rows[k], *point = points + 4 * k;
        for (int i = 0; i < 3; i++)
            found[3 * k + i] = dot(pose + 4 * i, point) + pose[4 * i + 3] * point[3];
    }
    return finish(&arrays);
}

/* The velocity of a point, for a motion about the origin of the ground. */
static void velocity_at(const double *point, const double *motion, double *velocity)
{
    memcpy(velocity, motion + 3, 3 * sizeof(double));
    add_cross(velocity, motion, point);
}

PyDoc_STRVAR(station_velocities_doc, "Compute the velocities of stations.");

static PyObject *station_velocities(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 4))
        return NULL;
    Arrays arrays = {.count = 0};
    Py_ssize_t stations, bodies;
    const double *positions = rows_of(&arrays, args[1], 3, &stations, "positions");
    const double *motions = rows_of(&arrays, args[2], 6, &bodies, "motions");
    const Py_ssize_t *rows = indices(&arrays, args[0], stations, bodies, "rows");
    double *found = output(&arrays, args[3], 3 * stations, "velocities");
    for (Py_ssize_t k = 0; !arrays.failed && k < stations; k++)
        velocity_at(positions + 3 * k, motions + 6 * rows[k], found + 3 * k);
    return finish(&arrays);
}

PyDoc_STRVAR(station_accelerations_doc, "Compute the accelerations of stations.");

static PyObject *station_accelerations(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, 5))
        return NULL;
    Arrays arrays = {.count = 0};
    Py_ssize_t stations, bodies;
    const double *positions = rows_of(&arrays, args[1], 3, &stations, "positions");
    const double *motions = rows_of(&arrays, args[2], 6, &bodies, "motions");
    const double *rates = input(&arrays, args[3], 6 * bodies, "rates of motions");
    const Py_ssize_t *rows = indices(&arrays, args[0], stations, bodies, "rows");
    double *found = output(&arrays, args[4], 3 * stations, "accelerations");
    for (Py_ssize_t k = 0; !arrays.failed && k < stations; k++) {
        double velocity[3];
        velocity_at(positions + 3 * k, motions + 6 * rows[k], velocity);
        velocity_at(positions + 3 * k, rates + 6 * rows[k], found + 3 * k);
        add_cross(found + 3 * k, motions + 6 * rows[k], velocity);
    }
    return finish(&arrays);
}

/* The derivatives of the velocity of a point by u, 3 rows; axes are 6 rows here. */
static void point_jacobian(
    const double *axes, const double *moves, const double *point, Py_ssize_t nu, double *jacobian)
{
    const double *w0 = axes, *w1 = axes + nu, *w2 = axes + 2 * nu;
    double x = point[0], y = point[1], z = point[2];
    for (Py_ssize_t j = 0; j < nu; j++)
        jacobian[j] = moves[j] * (axes[3 * nu + j] + w1[j] * z - w2[j] * y);
    for (Py_ssize_t j = 0; j < nu; j++)
        jacobian[nu + j] = moves[j] * (axes[4 * nu + j] + w2[j] * x - w0[j] * z);
    for (Py_ssize_t j = 0; j < nu; j++)
        jacobian[2 * nu + j] = moves[j] * (axes[5 * nu + j] + w0[j] * y - w1[j] * x);
}

/* The Jacobians of points, 3 rows for each, or of frames, 6 rows: the angular ones come first. */
static PyObject *jacobians(PyObject *const *args, Py_ssize_t count, Py_ssize_t height)
{
    if (!has_arguments(count, 4))
        return NULL;
    Arrays arrays = {.count = 0};
    Py_ssize_t stations, nu;
    const double *positions = rows_of(&arrays, args[1], 3, &stations, "positions");
    const double *axes = rows_of(&arrays, args[2], 6, &nu, "axes");
    const double *moves = input(&arrays, args[0], stations * nu, "moves");
    double *jacobian = output(&arrays, args[3], stations * height * nu, "the Jacobian");
    double *across = memory(&arrays, 6 * (size_t)nu * sizeof(double));
    for (Py_ssize_t j = 0; !arrays.failed && j < nu; j++)
        for (int i = 0; i < 6; i++)
            across[i * nu + j] = axes[6 * j + i];
    for (Py_ssize_t k = 0; !arrays.failed && k < stations; k++, moves += nu) {
        for (Py_ssize_t i = 0; i < height - 3; i++, jacobian += nu)
            for (Py_ssize_t j = 0; j < nu; j++)
                jacobian[j] = moves[j] * across[i * nu + j];
        point_jacobian(across, moves, positions + 3 * k, nu, jacobian);
        jacobian += 3 * nu;
    }
    PyMem_Free(across);
    return finish(&arrays);
}

PyDoc_STRVAR(station_jacobian_doc, "Compute the derivatives of velocities of stations by u.");

static PyObject *station_jacobian(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    return jacobians(args, count, 3);
}

PyDoc_STRVAR(frame_jacobian_doc, "Compute the derivatives of velocities of frames at stations by u.");

static PyObject *frame_jacobian(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    return jacobians(args, count, 6);
}

/* ------------------------------------------------------------------ dynamics: links */

/* A body with its joint, in the axes of the ground, about the origin of M. */
typedef struct {
    double arm[3];    /* from M of the parent to M */
    double offset[3]; /* from M to B */
    double mass;
    double center[3];
    double inertia[9]; /* about the center of mass */
    double motion[6];
    double bias[6];         /* of its acceleration */
    double force[6];        /* on the body, by what is inboard of it */
    double acceleration[6]; /* where forces are 0, at first */
    double angular[9], mixed[9], linear[9]; /* articulated inertia: [angular mixed; mixed' linear] */
    double total_mass, moment[3], trace;    /* of the composite body: m, m c, trace of its inertia */
} Link;

/* What a call has to do with: its arrays, and memory for them. */
typedef struct {
    const Tree *tree;
    const double *q, *relative, *joints, *given_axes;
    const double *masses, *centers, *inertias;
    Link *links;
    double *axes;     /* (nu, 6) */
    double *weights;  /* (nu, 6) W, where P - W W' is the articulated inertia without its joint */
    double *cholesky; /* (nu, MOST_U) lower factors of H' P H */
    int is_moving;    /* biases may not be 0 */
} Dynamics;

#define MODEL_ARGUMENTS 7

/* R I R', for the rotation of a pose. */
static void rotate_inertia(const double *pose, const double *inertia, double *found)
{
    double half[9]; /* I R' */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            half[3 * i + j] = dot(inertia + 3 * i, pose + 4 * j);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] =
                pose[4 * i] * half[j] + pose[4 * i + 1] * half[3 + j] + pose[4 * i + 2] * half[6 + j];
}

static void prepare_link(Dynamics *d, Py_ssize_t row)
{
    const Tree *tree = d->tree;
    const Joint *joint = &tree->joints[row];
    Link *link = &d->links[row];
    double step[3], rotation[12], frame[16], composed[16];
    const double *body = d->joints + 16 * row; /* its rotation counts */
    origin_of(d->relative + 16 * row, step);
    rotated(d->joints + 16 * joint->parent, step, link->arm);
    rotation_of_f(tree, row, d->joints, rotation);
    joint_axes(tree, row, rotation, d->q, d->given_axes, d->axes + 6 * joint->u);
    if (tree->outboard != NULL) {
        memcpy(frame, body, sizeof frame);
        place_at((double[3]){0}, frame);
        compose(frame, tree->outboard + 16 * row, composed);
        origin_of(composed, link->offset);
        body = composed;
    }
    link->mass = d->masses[row];
    rotated(body, d->centers + 3 * row, link->center);
    add(link->center, link->offset, 1.0);
    rotate_inertia(body, d->inertias + 9 * row, link->inertia);
}

/* Take the arguments that all have in common, and prepare all links; the error is in the arrays. */
static void prepare(Dynamics *d, const Tree *tree, Arrays *arrays, PyObject *const *args)
{
    Py_ssize_t rows = tree->rows;
    size_t nu = (size_t)tree->nu;
    memset(d, 0, sizeof *d);
    d->tree = tree;
    d->q = input(arrays, args[0], tree->nq, "q");
    d->relative = input(arrays, args[1], 16 * rows, "relative");
    d->joints = input(arrays, args[2], 16 * rows, "joints");
    d->given_axes = optional(arrays, args[3], 6 * tree->nu, "given axes");
    d->masses = input(arrays, args[4], rows, "masses");
    d->centers = input(arrays, args[5], 3 * rows, "centers");
    d->inertias = input(arrays, args[6], 9 * rows, "inertias");
    d->links = memory(arrays, (size_t)rows * sizeof(Link));
    d->axes = memory(arrays, (12 + MOST_U) * nu * sizeof(double));
    if (arrays->failed)
        return;
    d->weights = d->axes + 6 * nu;
    d->cholesky = d->axes + 12 * nu;
    memset(d->links, 0, (size_t)rows * sizeof(Link));
    for (Py_ssize_t row = 1; row < rows; row++)
        prepare_link(d, row);
}

static void discard(Dynamics *d)
{
    PyMem_Free(d->links);
    PyMem_Free(d->axes);
}

/* Compute the motion of a body, and its bias. */
static void move_link(Dynamics *d, Py_ssize_t row, const double *u, const double *given_rates)
{
    const Joint *joint = &d->tree->joints[row];
    const double *parent = d->links[joint->parent].motion;
    Link *link = &d->links[row];
    double relative[6], rate[6], swept[3];
    double *v = link->motion + 3, *b = link->bias + 3;
    joint_motion(joint, d->axes, u, relative);
    cross(parent, link->arm, swept);
    memcpy(link->motion, parent, sizeof link->motion);
    add(v, swept, 1.0);
    add6(link->motion, relative, 1.0);
    cross(parent, relative, link->bias);
    add(swept, relative + 3, 2.0);
    cross(parent, swept, b);
    if (joint_axes_rate(d->tree, row, d->joints, d->q, u, given_rates, rate))
        add6(link->bias, rate, 1.0);
}

static void move_links(Dynamics *d, const double *u, const double *given_rates)
{
    d->is_moving = 1;
    for (Py_ssize_t row = 1; row < d->tree->rows; row++)
        move_link(d, row, u, given_rates);
}

/* The force that gives a body an acceleration A: M A, and what is due to its velocity. */
static void add_inertial_force(const Link *link, const double *acceleration, double *force)
{
    const double *w = link->motion;
    double at_center[3], spin[3], inward[3], f[3] = {0};
    cross(acceleration, link->center, at_center);
    add(at_center, acceleration + 3, 1.0);
    cross(w, link->center, inward);
    add_cross(at_center, w, inward);
    add(f, at_center, link->mass);
    times(link->inertia, w, spin);
    add_times(force, link->inertia, acceleration);
    add_cross(force, w, spin);
    add_cross(force, link->center, f);
    add(force + 3, f, 1.0);
}

/* Subtract a force on a body about the origin of B. */
static void subtract_applied(const Link *link, const double *applied, double *force)
{
    double moment[3];
    cross(link->offset, applied + 3, moment);
    add(force, moment, -1.0);
    add6(force, applied, -1.0);
}

/* Add a force on a body to that on its parent. */
static void add_to_parent(const Link *link, const double *force, double *parent)
{
    add_cross(parent, link->arm, force + 3);
    add6(parent, force, 1.0);
}

/* A' + (0, alpha' x r): the acceleration of a point of the parent. */
static void carried(const Link *link, const double *parent, double *acceleration)
{
    memcpy(acceleration, parent, 6 * sizeof(double));
    add_cross(acceleration + 3, parent, link->arm);
}

/* Accelerate the ground against a field, a force on all masses by mass: it is felt as that. */
static void lift_ground(Dynamics *d, const double *field)
{
    if (field != NULL && d->tree->rows > 0)
        add(d->links[0].acceleration + 3, field, -1.0);
}

/* ------------------------------------------------------------------ inverse dynamics */

/* Featherstone (2008), table 5.1, with accelerations of points. */
static void recursive_newton_euler(
    Dynamics *d, const double *udot, const double *applied, double *generalized)
{
    for (Py_ssize_t row = 1; row < d->tree->rows; row++) {
        const Joint *joint = &d->tree->joints[row];
        Link *link = &d->links[row];
        carried(link, d->links[joint->parent].acceleration, link->acceleration);
        add6(link->acceleration, link->bias, 1.0);
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            add6(link->acceleration, d->axes + 6 * i, udot[i]);
        add_inertial_force(link, link->acceleration, link->force);
        if (applied != NULL)
            subtract_applied(link, applied + 6 * row, link->force);
    }
    for (Py_ssize_t row = d->tree->rows - 1; row > 0; row--) {
        const Joint *joint = &d->tree->joints[row];
        const Link *link = &d->links[row];
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            generalized[i] = dot6(d->axes + 6 * i, link->force);
        add_to_parent(link, link->force, d->links[joint->parent].force);
    }
}

PyDoc_STRVAR(inverse_doc, "Compute the generalized forces for udot, by the recursion of Newton and Euler.");

static PyObject *tree_inverse_dynamics(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, MODEL_ARGUMENTS + 7))
        return NULL;
    Arrays arrays = {.count = 0};
    Dynamics d;
    prepare(&d, self, &arrays, args);
    args += MODEL_ARGUMENTS;
    const double *given_rates = optional(&arrays, args[0], 6 * self->given, "given rates");
    const double *u = input(&arrays, args[1], self->nu, "u");
    const double *udot = input(&arrays, args[2], self->nu, "udot");
    const double *applied = optional(&arrays, args[3], 6 * self->rows, "forces");
    const double *field = optional(&arrays, args[4], 3, "field");
    double *generalized = output(&arrays, args[5], self->nu, "generalized forces");
    double *reactions = Py_IsNone(args[6]) ? NULL : output(&arrays, args[6], 6 * self->rows, "reactions");
    if (!arrays.failed) {
        lift_ground(&d, field);
        move_links(&d, u, given_rates);
        recursive_newton_euler(&d, udot, applied, generalized);
        for (Py_ssize_t row = 0; reactions != NULL && row < self->rows; row++)
            memcpy(reactions + 6 * row, d.links[row].force, sizeof d.links[row].force);
    }
    discard(&d);
    return finish(&arrays);
}

/* ------------------------------------------------------------------ the mass matrix */

/* Add the composite body of a link to that of its parent. Its inertia is about its own center of
   mass, so nothing is subtracted. */
static void merge(const Link *link, Link *parent)
{
    double mass = parent->mass + link->mass, apart[3], share, square;
    for (int i = 0; i < 9; i++)
        parent->inertia[i] += link->inertia[i];
    if (!(mass > 0.0))
        return;
    for (int i = 0; i < 3; i++)
        apart[i] = link->arm[i] + link->center[i] - parent->center[i];
    share = parent->mass * link->mass / mass;
    square = dot(apart, apart);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            parent->inertia[3 * i + j] += share * ((i == j ? square : 0.0) - apart[i] * apart[j]);
    add(parent->center, apart, link->mass / mass);
    parent->mass = mass;
}

/* The force for a unit acceleration along an axis, at rest. */
static void force_of_axis(const Link *link, const double *axis, double *force)
{
    double velocity[3], *f = force + 3;
    cross(axis, link->center, velocity);
    add(velocity, axis + 3, 1.0);
    for (int i = 0; i < 3; i++)
        f[i] = link->mass * velocity[i];
    times(link->inertia, axis, force);
    add_cross(force, link->center, f);
}

/* Compute the numbers of the mass matrix for one u, and all u inboard of it. */
static void fill_column(const Dynamics *d, Py_ssize_t row, Py_ssize_t column, double *matrix)
{
    const Joint *joints = d->tree->joints;
    Py_ssize_t nu = d->tree->nu;
    double force[6];
    force_of_axis(&d->links[row], d->axes + 6 * column, force);
    for (; row > 0; row = joints[row].parent) {
        for (Py_ssize_t i = joints[row].u; i < joints[row].u + joints[row].nu; i++)
            matrix[i * nu + column] = matrix[column * nu + i] = dot6(d->axes + 6 * i, force);
        add_cross(force, d->links[row].arm, force + 3);
    }
}

PyDoc_STRVAR(mass_matrix_doc, "Compute the mass matrix, by composite bodies.");

/* Featherstone (2008), table 6.2. */
static PyObject *tree_mass_matrix(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, MODEL_ARGUMENTS + 1))
        return NULL;
    Arrays arrays = {.count = 0};
    Dynamics d;
    prepare(&d, self, &arrays, args);
    double *matrix = output(&arrays, args[MODEL_ARGUMENTS], self->nu * self->nu, "the mass matrix");
    if (!arrays.failed)
        memset(matrix, 0, (size_t)(self->nu * self->nu) * sizeof(double));
    for (Py_ssize_t row = self->rows - 1; !arrays.failed && row > 0; row--) {
        const Joint *joint = &self->joints[row];
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            fill_column(&d, row, i, matrix);
        merge(&d.links[row], &d.links[joint->parent]);
    }
    discard(&d);
    return finish(&arrays);
}

/* ------------------------------------------------------------------ articulated bodies

   P is the inertia that a body has with all outboard of it, whose joints are free:

       D = H' P H = L L',   W = P H L'^-1,   P of the parent: its own, and all P - W W' outboard

   A joint that is prescribed is rigid here: W W' = 0. Featherstone (2008), table 7.1; Jain (2011),
   chapter 6, for many right sides at once. */

/* Add to P the inertia of the body itself: [I + m c~ c~', m c~; m c~', m]. */
static void add_rigid_inertia(Link *link)
{
    const double *c = link->center;
    double m = link->mass, square = dot(c, c);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            link->angular[3 * i + j] += link->inertia[3 * i + j] - m * c[i] * c[j];
        link->angular[4 * i] += m * square;
        link->linear[4 * i] += m;
    }
    link->mixed[1] -= m * c[2], link->mixed[2] += m * c[1];
    link->mixed[3] += m * c[2], link->mixed[5] -= m * c[0];
    link->mixed[6] -= m * c[1], link->mixed[7] += m * c[0];
}

/* P v, added. */
static void add_articulated(const Link *link, const double *v, double *force)
{
    add_times(force, link->angular, v);
    add_times(force, link->mixed, v + 3);
    add_transposed_times(force + 3, link->mixed, v);
    add_times(force + 3, link->linear, v + 3);
}

/* Factor a symmetric matrix of some rows in L L'; 0 if a pivot is not above its least value. */
static int factor(const double *matrix, const double *least, Py_ssize_t size, double *lower)
{
    for (Py_ssize_t k = 0; k < size; k++) {
        for (Py_ssize_t l = 0; l <= k; l++) {
            double rest = matrix[MOST_U * k + l];
            for (Py_ssize_t m = 0; m < l; m++)
                rest -= lower[MOST_U * k + m] * lower[MOST_U * l + m];
            if (l < k)
                lower[MOST_U * k + l] = rest / lower[MOST_U * l + l];
            else if (rest > least[k])
                lower[MOST_U * k + k] = sqrt(rest);
            else
                return 0;
        }
    }
    return 1;
}

/* The largest value of h' P h that may be rounding of 0. Its terms have the size of the inertia of
   the composite body, of which the joints outboard have taken parts away. */
static double rounding_of(const Link *link, const double *axis)
{
    double linear = 3.0 * link->total_mass;
    return 16.0 * DBL_EPSILON * (dot(axis, axis) * link->trace + dot(axis + 3, axis + 3) * linear);
}

/* Add the body itself to its composite body. */
static void add_own_size(Link *link)
{
    const double *inertia = link->inertia;
    link->total_mass += link->mass;
    add(link->moment, link->center, link->mass);
    link->trace += inertia[0] + inertia[4] + inertia[8];
    link->trace += 2.0 * link->mass * dot(link->center, link->center);
}

/* Add the composite body of a link to that of its parent. */
static void add_size_to_parent(const Link *link, Link *parent)
{
    parent->total_mass += link->total_mass;
    add(parent->moment, link->moment, 1.0);
    add(parent->moment, link->arm, link->total_mass);
    parent->trace += link->trace + 4.0 * dot(link->arm, link->moment);
    parent->trace += 2.0 * link->total_mass * dot(link->arm, link->arm);
}

/* Tell whether a matrix L L' may be singular: the trace of its inverse, where it is scaled to a
   diagonal of 1, is at least the reciprocal of its least eigenvalue. */
static int may_be_singular(const double *matrix, const double *lower, Py_ssize_t size)
{
    double trace = 0.0;
    for (Py_ssize_t column = 0; column < size; column++) {
        double solved[MOST_U] = {0.0}, squares = 0.0;
        solved[column] = 1.0;
        for (Py_ssize_t k = column; k < size; k++) {
            for (Py_ssize_t l = column; l < k; l++)
                solved[k] -= lower[MOST_U * k + l] * solved[l];
            solved[k] /= lower[MOST_U * k + k];
            squares += solved[k] * solved[k];
        }
        trace += squares * matrix[(MOST_U + 1) * column];
    }
    return trace * 4.0 * (double)size * DBL_EPSILON >= 1.0;
}

static void subtract_outer(double *matrix, const double *a, const double *b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix[3 * i + j] -= a[i] * b[j];
}

/* Compute L and W of a joint, and P - W W'; 0 if D is singular. */
static int free_joint(Dynamics *d, const Joint *joint, Link *link)
{
    const double *axes = d->axes + 6 * joint->u;
    double *w = d->weights + 6 * joint->u, *lower = d->cholesky + MOST_U * joint->u;
    double matrix[MOST_U * MOST_U], least[MOST_U];
    memset(w, 0, 6 * (size_t)joint->nu * sizeof(double));
    for (Py_ssize_t k = 0; k < joint->nu; k++) {
        add_articulated(link, axes + 6 * k, w + 6 * k);
        least[k] = rounding_of(link, axes + 6 * k);
        for (Py_ssize_t l = 0; l <= k; l++)
            matrix[MOST_U * k + l] = dot6(axes + 6 * l, w + 6 * k);
    }
    if (!factor(matrix, least, joint->nu, lower) || may_be_singular(matrix, lower, joint->nu))
        return 0;
    for (Py_ssize_t k = 0; k < joint->nu; k++) {
        double *own = w + 6 * k, inverse = 1.0 / lower[MOST_U * k + k];
        for (Py_ssize_t l = 0; l < k; l++)
            add6(own, w + 6 * l, -lower[MOST_U * k + l]);
        for (int i = 0; i < 6; i++)
            own[i] *= inverse;
        subtract_outer(link->angular, own, own);
        subtract_outer(link->mixed, own, own + 3);
        subtract_outer(link->linear, own + 3, own + 3);
    }
    return 1;
}

/* Add the articulated inertia of a link to that of its parent, about the origin of that:
   mixed + r~ linear,   angular + r~ mixed' + (mixed + r~ linear) r~'. */
static void shift_inertia(const Link *link, Link *parent)
{
    double mixed[9], turned[9], product[3];
    for (int j = 0; j < 3; j++) {
        cross(link->arm, link->linear + 3 * j, product);
        for (int i = 0; i < 3; i++)
            mixed[3 * i + j] = link->mixed[3 * i + j] + product[i];
        cross(link->arm, link->mixed + 3 * j, product);
        for (int i = 0; i < 3; i++)
            turned[3 * i + j] = product[i];
    }
    for (int i = 0; i < 3; i++) {
        cross(link->arm, mixed + 3 * i, product);
        add(turned + 3 * i, product, 1.0);
    }
    for (int i = 0; i < 9; i++) {
        parent->angular[i] += link->angular[i] + turned[i];
        parent->mixed[i] += mixed[i];
        parent->linear[i] += link->linear[i];
    }
}

/* A joint is prescribed where its known udot are not NaN. */
static int is_prescribed(const Joint *joint, const double *known)
{
    return known != NULL && joint->nu > 0 && !isnan(known[joint->u]);
}

/* Compute the articulated inertias; return the row of a joint whose D is singular, or 0. */
static Py_ssize_t articulate(Dynamics *d, const double *known)
{
    for (Py_ssize_t row = d->tree->rows - 1; row > 0; row--) {
        const Joint *joint = &d->tree->joints[row];
        Link *link = &d->links[row];
        add_rigid_inertia(link);
        add_own_size(link);
        if (!is_prescribed(joint, known) && !free_joint(d, joint, link))
            return row;
        if (joint->parent > 0) {
            shift_inertia(link, &d->links[joint->parent]);
            add_size_to_parent(link, &d->links[joint->parent]);
        }
    }
    return 0;
}

/* y = L^-1 y */
static void solve_lower(const double *lower, Py_ssize_t size, double *y)
{
    for (Py_ssize_t k = 0; k < size; k++) {
        for (Py_ssize_t l = 0; l < k; l++)
            y[k] -= lower[MOST_U * k + l] * y[l];
        y[k] /= lower[MOST_U * k + k];
    }
}

/* y = L'^-1 y */
static void solve_upper(const double *lower, Py_ssize_t size, double *y)
{
    for (Py_ssize_t k = size - 1; k >= 0; k--) {
        for (Py_ssize_t l = k + 1; l < size; l++)
            y[k] -= lower[MOST_U * l + k] * y[l];
        y[k] /= lower[MOST_U * k + k];
    }
}

static int are_zero(const double *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (values[i] != 0.0)
            return 0;
    return 1;
}

/* From the leaves to the ground: y = L^-1 (tau - H' z), in udot; z = the force on each body that is
   left once its joint has moved. At first, `force` of each link is the one for A = 0. Links at rest
   without any force are passed over, as most are where M^-1 is multiplied by a row of constraints. */
static void gather_forces(Dynamics *d, const double *tau, const double *known, double *udot)
{
    for (Py_ssize_t row = d->tree->rows - 1; row > 0; row--) {
        const Joint *joint = &d->tree->joints[row];
        Link *link = &d->links[row];
        int is_free = !is_prescribed(joint, known);
        if (!d->is_moving && are_zero(link->force, 6) && are_zero(tau + joint->u, joint->nu))
            continue; /* its udot are 0 already */
        for (Py_ssize_t i = joint->u; is_free && i < joint->u + joint->nu; i++)
            udot[i] = tau[i] - dot6(d->axes + 6 * i, link->force);
        if (is_free)
            solve_lower(d->cholesky + MOST_U * joint->u, joint->nu, udot + joint->u);
        if (joint->parent == 0)
            continue;
        if (d->is_moving)
            add_articulated(link, link->bias, link->force);
        for (Py_ssize_t i = joint->u; is_free && i < joint->u + joint->nu; i++)
            add6(link->force, d->weights + 6 * i, udot[i]);
        add_to_parent(link, link->force, d->links[joint->parent].force);
    }
}

/* From the ground to the leaves: udot = L'^-1 (y - W' A), with the acceleration A of M if its own
   udot were 0. */
static void spread_accelerations(Dynamics *d, const double *known, double *udot)
{
    for (Py_ssize_t row = 1; row < d->tree->rows; row++) {
        const Joint *joint = &d->tree->joints[row];
        Link *link = &d->links[row];
        carried(link, d->links[joint->parent].acceleration, link->acceleration);
        add6(link->acceleration, link->bias, 1.0);
        if (is_prescribed(joint, known))
            continue;
        if (are_zero(link->acceleration, 6) && are_zero(udot + joint->u, joint->nu))
            continue;
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            udot[i] -= dot6(d->weights + 6 * i, link->acceleration);
        solve_upper(d->cholesky + MOST_U * joint->u, joint->nu, udot + joint->u);
        for (Py_ssize_t i = joint->u; i < joint->u + joint->nu; i++)
            add6(link->acceleration, d->axes + 6 * i, udot[i]);
    }
}

/* Give links the forces for A = 0, and the accelerations that are known. */
static void load_links(Dynamics *d, const double *applied, const double *known, double *udot)
{
    static const double still[6] = {0};
    for (Py_ssize_t row = 1; row < d->tree->rows; row++) {
        const Joint *joint = &d->tree->joints[row];
        Link *link = &d->links[row];
        add_inertial_force(link, still, link->force);
        if (applied != NULL)
            subtract_applied(link, applied + 6 * row, link->force);
        for (Py_ssize_t i = joint->u; is_prescribed(joint, known) && i < joint->u + joint->nu; i++) {
            udot[i] = known[i];
            add6(link->bias, d->axes + 6 * i, known[i]);
        }
    }
}

static void refuse_large_joints(const Tree *tree, Arrays *arrays)
{
    if (arrays->failed || tree->most_u <= MOST_U)
        return;
    PyErr_Format(PyExc_ValueError, "a joint has %zd u, more than %d", tree->most_u, MOST_U);
    arrays->failed = 1;
}

PyDoc_STRVAR(
    forward_doc,
    "Compute udot by articulated bodies; return the row of a singular joint, -1 if not finite, or 0.");

static PyObject *tree_forward_dynamics(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, MODEL_ARGUMENTS + 7))
        return NULL;
    Arrays arrays = {.count = 0};
    Dynamics d;
    Py_ssize_t singular = 0;
    prepare(&d, self, &arrays, args);
    args += MODEL_ARGUMENTS;
    const double *given_rates = optional(&arrays, args[0], 6 * self->given, "given rates");
    const double *u = input(&arrays, args[1], self->nu, "u");
    const double *tau = input(&arrays, args[2], self->nu, "generalized forces");
    const double *applied = optional(&arrays, args[3], 6 * self->rows, "forces");
    const double *field = optional(&arrays, args[4], 3, "field");
    const double *known = optional(&arrays, args[5], self->nu, "known udot");
    double *udot = output(&arrays, args[6], self->nu, "udot");
    refuse_large_joints(self, &arrays);
    if (!arrays.failed) {
        lift_ground(&d, field);
        move_links(&d, u, given_rates);
        singular = articulate(&d, known);
    }
    if (!arrays.failed && singular == 0) {
        load_links(&d, applied, known, udot);
        gather_forces(&d, tau, known, udot);
        spread_accelerations(&d, known, udot);
        if (!are_finite(udot, self->nu))
            singular = -1;
    }
    discard(&d);
    return finish_with(&arrays, singular);
}

/* udot = M^-1 tau at rest, where udot of prescribed joints are 0. */
static void multiply_row(Dynamics *d, const double *tau, const double *known, double *udot)
{
    memset(udot, 0, (size_t)d->tree->nu * sizeof(double));
    for (Py_ssize_t row = 1; row < d->tree->rows; row++)
        memset(d->links[row].force, 0, sizeof d->links[row].force);
    gather_forces(d, tau, known, udot);
    spread_accelerations(d, known, udot);
}

PyDoc_STRVAR(m_inv_doc, "Compute M^-1 f for rows f; return the row of a singular joint, or 0.");

static PyObject *tree_multiply_by_m_inv(Tree *self, PyObject *const *args, Py_ssize_t count)
{
    if (!has_arguments(count, MODEL_ARGUMENTS + 3))
        return NULL;
    Arrays arrays = {.count = 0};
    Dynamics d;
    Py_ssize_t singular = 0, sides = 0;
    prepare(&d, self, &arrays, args);
    args += MODEL_ARGUMENTS;
    const double *known = optional(&arrays, args[0], self->nu, "known udot");
    const double *forces = NULL;
    if (self->nu > 0)
        forces = rows_of(&arrays, args[1], self->nu, &sides, "generalized forces");
    double *found = output(&arrays, args[2], sides * self->nu, "udot");
    refuse_large_joints(self, &arrays);
    if (!arrays.failed)
        singular = articulate(&d, known);
    for (Py_ssize_t k = 0; !arrays.failed && singular == 0 && k < sides; k++)
        multiply_row(&d, forces + k * self->nu, known, found + k * self->nu);
    discard(&d);
    return finish_with(&arrays, singular);
}

/* ------------------------------------------------------------------ the module */

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef tree_methods[] = {
    {"moved", FAST(tree_moved), METH_FASTCALL, moved_doc},
    {"positions", FAST(tree_positions), METH_FASTCALL, positions_doc},
    {"axes", FAST(tree_axes), METH_FASTCALL, axes_doc},
    {"motions", FAST(tree_motions), METH_FASTCALL, motions_doc},
    {"bias", FAST(tree_bias), METH_FASTCALL, bias_doc},
    {"generalized_forces", FAST(tree_generalized_forces), METH_FASTCALL, generalized_doc},
    {"qdot", FAST(tree_qdot), METH_FASTCALL, qdot_doc},
    {"qdotdot", FAST(tree_qdotdot), METH_FASTCALL, qdotdot_doc},
    {"mass_matrix", FAST(tree_mass_matrix), METH_FASTCALL, mass_matrix_doc},
    {"inverse_dynamics", FAST(tree_inverse_dynamics), METH_FASTCALL, inverse_doc},
    {"forward_dynamics", FAST(tree_forward_dynamics), METH_FASTCALL, forward_doc},
    {"multiply_by_m_inv", FAST(tree_multiply_by_m_inv), METH_FASTCALL, m_inv_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tree_slots[] = {
    {Py_tp_doc, (void *)tree_doc},
    {Py_tp_new, (void *)tree_new},
    {Py_tp_dealloc, (void *)tree_dealloc},
    {Py_tp_methods, tree_methods},
    {0, NULL},
};

static PyType_Spec tree_spec = {
    .name = "stagecache.multibody.tree.kernel.Tree",
    .basicsize = sizeof(Tree),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = tree_slots,
};

static int add_contents(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &tree_spec, NULL);
    int failed = type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyMethodDef module_methods[] = {
    {"station_positions", FAST(station_positions), METH_FASTCALL, station_positions_doc},
    {"station_velocities", FAST(station_velocities), METH_FASTCALL, station_velocities_doc},
    {"station_accelerations", FAST(station_accelerations), METH_FASTCALL, station_accelerations_doc},
    {"station_jacobian", FAST(station_jacobian), METH_FASTCALL, station_jacobian_doc},
    {"frame_jacobian", FAST(frame_jacobian), METH_FASTCALL, frame_jacobian_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)add_contents},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kernel",
    .m_doc = "Kinematics and dynamics of a tree of bodies, in flat arrays.",
    .m_size = 0,
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_kernel(void)
{
    return PyModuleDef_Init(&module_definition);
}
