/* MPI: the common part. */
#ifndef CUDALINT_MPI_H
#define CUDALINT_MPI_H
#include <stddef.h>
#include <stdint.h>
#define MPI_VERSION 3
#define MPI_SUCCESS 0
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 256
#define MPI_COMM_TYPE_SHARED 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD ((MPI_Comm)1)
#define MPI_COMM_SELF ((MPI_Comm)2)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_CHAR ((MPI_Datatype)1)
#define MPI_SIGNED_CHAR ((MPI_Datatype)2)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)3)
#define MPI_BYTE ((MPI_Datatype)4)
#define MPI_SHORT ((MPI_Datatype)5)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)6)
#define MPI_INT ((MPI_Datatype)7)
#define MPI_UNSIGNED ((MPI_Datatype)8)
#define MPI_LONG ((MPI_Datatype)9)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)10)
#define MPI_FLOAT ((MPI_Datatype)11)
#define MPI_DOUBLE ((MPI_Datatype)12)
#define MPI_LONG_LONG ((MPI_Datatype)13)
#define MPI_LONG_LONG_INT ((MPI_Datatype)13)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)14)
#define MPI_INT8_T ((MPI_Datatype)15)
#define MPI_UINT8_T ((MPI_Datatype)16)
#define MPI_INT32_T ((MPI_Datatype)17)
#define MPI_UINT32_T ((MPI_Datatype)18)
#define MPI_INT64_T ((MPI_Datatype)19)
#define MPI_UINT64_T ((MPI_Datatype)20)
#define MPI_CXX_BOOL ((MPI_Datatype)21)
#define MPI_C_BOOL ((MPI_Datatype)22)
#define MPI_COMPLEX ((MPI_Datatype)23)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)24)
#define MPI_2INT ((MPI_Datatype)25)
#define MPI_FLOAT_INT ((MPI_Datatype)26)
#define MPI_DOUBLE_INT ((MPI_Datatype)27)
#define MPI_MAX ((MPI_Op)1)
#define MPI_MIN ((MPI_Op)2)
#define MPI_SUM ((MPI_Op)3)
#define MPI_PROD ((MPI_Op)4)
#define MPI_LAND ((MPI_Op)5)
#define MPI_BAND ((MPI_Op)6)
#define MPI_LOR ((MPI_Op)7)
#define MPI_BOR ((MPI_Op)8)
#define MPI_MAXLOC ((MPI_Op)9)
#define MPI_MINLOC ((MPI_Op)10)
#ifdef __cplusplus
#define CUDALINT_MPI_ANYTHING ...
extern "C" {
#else
#define CUDALINT_MPI_ANYTHING
#endif
typedef struct cudalint_mpi_comm *MPI_Comm;
typedef struct cudalint_mpi_datatype *MPI_Datatype;
typedef struct cudalint_mpi_op *MPI_Op;
typedef struct cudalint_mpi_request *MPI_Request;
typedef struct cudalint_mpi_group *MPI_Group;
typedef struct cudalint_mpi_info *MPI_Info;
typedef struct cudalint_mpi_win *MPI_Win;
typedef struct cudalint_mpi_file *MPI_File;
typedef intptr_t MPI_Aint;
typedef long long MPI_Offset;
typedef struct MPI_Status { int MPI_SOURCE, MPI_TAG, MPI_ERROR, count; } MPI_Status;
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Abort(MPI_Comm comm, int code) __attribute__((noreturn));
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Barrier(MPI_Comm comm);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Get_processor_name(char *name, int *length);
double MPI_Wtime(void);
#define F(name) int MPI_##name(CUDALINT_MPI_ANYTHING);
F(Send) F(Recv) F(Isend) F(Irecv) F(Ssend) F(Bsend) F(Rsend) F(Sendrecv) F(Sendrecv_replace) F(Bcast)
F(Reduce) F(Allreduce) F(Gather) F(Gatherv) F(Allgather) F(Allgatherv) F(Scatter) F(Scatterv)
F(Alltoall) F(Alltoallv) F(Scan) F(Exscan) F(Reduce_scatter) F(Ibcast) F(Iallreduce) F(Ibarrier)
F(Test) F(Testall) F(Waitany) F(Waitsome) F(Probe) F(Iprobe) F(Get_count) F(Comm_split)
F(Comm_split_type) F(Comm_dup) F(Comm_free) F(Comm_group) F(Comm_create) F(Group_free) F(Cart_create)
F(Cart_coords) F(Cart_shift) F(Cart_rank) F(Dims_create) F(Type_contiguous) F(Type_vector)
F(Type_commit) F(Type_free) F(Type_size) F(Type_create_struct) F(Type_create_subarray) F(Op_create)
F(Op_free) F(Error_string) F(Comm_set_errhandler) F(Query_thread) F(Get_address) F(Win_create)
F(Win_free) F(Put) F(Get) F(File_open) F(File_close) F(File_read) F(File_write) F(Alloc_mem)
F(Free_mem) F(Get_version) F(Request_free) F(Cancel) F(Pack) F(Unpack) F(Send_init) F(Recv_init)
F(Start) F(Startall)
#undef F
#ifdef __cplusplus
}
#endif
#endif
