/* cuDNN. */
#ifndef CUDNN_H_
#define CUDNN_H_
#include "cudalint_declarations.h"
#define CUDNN_MAJOR 9
#define CUDNN_MINOR 0
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION 90000
#define CUDNN_BN_MIN_EPSILON 0.0
#define CUDNN_DIM_MAX 8
CUDALINT_BEGIN
typedef enum {
  CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_NOT_INITIALIZED = 1001, CUDNN_STATUS_ALLOC_FAILED = 5003,
  CUDNN_STATUS_BAD_PARAM = 2000, CUDNN_STATUS_INTERNAL_ERROR = 4000,
  CUDNN_STATUS_INVALID_VALUE = 2001, CUDNN_STATUS_ARCH_MISMATCH = 3007,
  CUDNN_STATUS_MAPPING_ERROR = 3008, CUDNN_STATUS_EXECUTION_FAILED = 5000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000, CUDNN_STATUS_LICENSE_ERROR = 1005
} cudnnStatus_t;
typedef enum {
  CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_INT8 = 3,
  CUDNN_DATA_INT32 = 4, CUDNN_DATA_INT8x4 = 5, CUDNN_DATA_UINT8 = 6, CUDNN_DATA_UINT8x4 = 7,
  CUDNN_DATA_INT8x32 = 8, CUDNN_DATA_BFLOAT16 = 9, CUDNN_DATA_INT64 = 10, CUDNN_DATA_BOOLEAN = 11,
  CUDNN_DATA_FP8_E4M3 = 12, CUDNN_DATA_FP8_E5M2 = 13
} cudnnDataType_t;
typedef enum { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1, CUDNN_TENSOR_NCHW_VECT_C = 2 } cudnnTensorFormat_t;
typedef enum { CUDNN_CONVOLUTION = 0, CUDNN_CROSS_CORRELATION = 1 } cudnnConvolutionMode_t;
typedef enum { CUDNN_NOT_PROPAGATE_NAN = 0, CUDNN_PROPAGATE_NAN = 1 } cudnnNanPropagation_t;
typedef enum { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 } cudnnDeterminism_t;
typedef enum {
  CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
  CUDNN_FMA_MATH = 3
} cudnnMathType_t;
typedef enum {
  CUDNN_ACTIVATION_SIGMOID = 0, CUDNN_ACTIVATION_RELU = 1, CUDNN_ACTIVATION_TANH = 2,
  CUDNN_ACTIVATION_CLIPPED_RELU = 3, CUDNN_ACTIVATION_ELU = 4, CUDNN_ACTIVATION_IDENTITY = 5,
  CUDNN_ACTIVATION_SWISH = 6
} cudnnActivationMode_t;
typedef enum {
  CUDNN_POOLING_MAX = 0, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
  CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2, CUDNN_POOLING_MAX_DETERMINISTIC = 3
} cudnnPoolingMode_t;
typedef enum { CUDNN_SOFTMAX_FAST = 0, CUDNN_SOFTMAX_ACCURATE = 1, CUDNN_SOFTMAX_LOG = 2 } cudnnSoftmaxAlgorithm_t;
typedef enum { CUDNN_SOFTMAX_MODE_INSTANCE = 0, CUDNN_SOFTMAX_MODE_CHANNEL = 1 } cudnnSoftmaxMode_t;
typedef enum {
  CUDNN_BATCHNORM_PER_ACTIVATION = 0, CUDNN_BATCHNORM_SPATIAL = 1,
  CUDNN_BATCHNORM_SPATIAL_PERSISTENT = 2
} cudnnBatchNormMode_t;
typedef enum { CUDNN_LRN_CROSS_CHANNEL_DIM1 = 0 } cudnnLRNMode_t;
typedef enum { CUDNN_DIVNORM_PRECOMPUTED_MEANS = 0 } cudnnDivNormMode_t;
typedef enum {
  CUDNN_OP_TENSOR_ADD = 0, CUDNN_OP_TENSOR_MUL = 1, CUDNN_OP_TENSOR_MIN = 2,
  CUDNN_OP_TENSOR_MAX = 3, CUDNN_OP_TENSOR_SQRT = 4, CUDNN_OP_TENSOR_NOT = 5
} cudnnOpTensorOp_t;
typedef enum {
  CUDNN_REDUCE_TENSOR_ADD = 0, CUDNN_REDUCE_TENSOR_MUL = 1, CUDNN_REDUCE_TENSOR_MIN = 2,
  CUDNN_REDUCE_TENSOR_MAX = 3, CUDNN_REDUCE_TENSOR_AMAX = 4, CUDNN_REDUCE_TENSOR_AVG = 5,
  CUDNN_REDUCE_TENSOR_NORM1 = 6, CUDNN_REDUCE_TENSOR_NORM2 = 7
} cudnnReduceTensorOp_t;
typedef enum { CUDNN_REDUCE_TENSOR_NO_INDICES = 0, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES = 1 } cudnnReduceTensorIndices_t;
typedef enum { CUDNN_32BIT_INDICES = 0, CUDNN_64BIT_INDICES = 1 } cudnnIndicesType_t;
typedef enum {
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1,
  CUDNN_CONVOLUTION_FWD_ALGO_GEMM = 2, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT = 3,
  CUDNN_CONVOLUTION_FWD_ALGO_FFT = 4, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING = 5,
  CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD = 6, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED = 7,
  CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8
} cudnnConvolutionFwdAlgo_t;
typedef enum {
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 = 0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 = 1,
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT = 2, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3 = 3,
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD = 4, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT = 7
} cudnnConvolutionBwdFilterAlgo_t;
typedef enum {
  CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1,
  CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT = 2, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING = 3,
  CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD = 4, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT = 6
} cudnnConvolutionBwdDataAlgo_t;
typedef enum {
  CUDNN_CONVOLUTION_FWD_NO_WORKSPACE = 0, CUDNN_CONVOLUTION_FWD_PREFER_FASTEST = 1,
  CUDNN_CONVOLUTION_FWD_SPECIFY_WORKSPACE_LIMIT = 2
} cudnnConvolutionFwdPreference_t;
typedef enum {
  CUDNN_CONVOLUTION_BWD_FILTER_NO_WORKSPACE = 0, CUDNN_CONVOLUTION_BWD_FILTER_PREFER_FASTEST = 1,
  CUDNN_CONVOLUTION_BWD_FILTER_SPECIFY_WORKSPACE_LIMIT = 2
} cudnnConvolutionBwdFilterPreference_t;
typedef enum {
  CUDNN_CONVOLUTION_BWD_DATA_NO_WORKSPACE = 0, CUDNN_CONVOLUTION_BWD_DATA_PREFER_FASTEST = 1,
  CUDNN_CONVOLUTION_BWD_DATA_SPECIFY_WORKSPACE_LIMIT = 2
} cudnnConvolutionBwdDataPreference_t;
typedef enum { CUDNN_RNN_RELU = 0, CUDNN_RNN_TANH = 1, CUDNN_LSTM = 2, CUDNN_GRU = 3 } cudnnRNNMode_t;
typedef enum { CUDNN_UNIDIRECTIONAL = 0, CUDNN_BIDIRECTIONAL = 1 } cudnnDirectionMode_t;
typedef enum { CUDNN_LINEAR_INPUT = 0, CUDNN_SKIP_INPUT = 1 } cudnnRNNInputMode_t;
typedef enum { CUDNN_RNN_ALGO_STANDARD = 0, CUDNN_RNN_ALGO_PERSIST_STATIC = 1, CUDNN_RNN_ALGO_PERSIST_DYNAMIC = 2 } cudnnRNNAlgo_t;
typedef enum { CUDNN_FWD_MODE_INFERENCE = 0, CUDNN_FWD_MODE_TRAINING = 1 } cudnnForwardMode_t;
typedef struct {
  cudnnConvolutionFwdAlgo_t algo; cudnnStatus_t status; float time; size_t memory;
  cudnnDeterminism_t determinism; cudnnMathType_t mathType; int reserved[3];
} cudnnConvolutionFwdAlgoPerf_t;
typedef struct {
  cudnnConvolutionBwdFilterAlgo_t algo; cudnnStatus_t status; float time; size_t memory;
  cudnnDeterminism_t determinism; cudnnMathType_t mathType; int reserved[3];
} cudnnConvolutionBwdFilterAlgoPerf_t;
typedef struct {
  cudnnConvolutionBwdDataAlgo_t algo; cudnnStatus_t status; float time; size_t memory;
  cudnnDeterminism_t determinism; cudnnMathType_t mathType; int reserved[3];
} cudnnConvolutionBwdDataAlgoPerf_t;
#define F(name) CUDALINT_FUNCTION(cudnnStatus_t, name)
#define DESCRIPTOR(name) \
  CUDALINT_HANDLE(cudnn##name##Descriptor_t, cudnn##name##Struct) \
  cudnnStatus_t cudnnCreate##name##Descriptor(cudnn##name##Descriptor_t *descriptor); \
  cudnnStatus_t cudnnDestroy##name##Descriptor(cudnn##name##Descriptor_t descriptor); \
  F(cudnnSet##name##Descriptor) F(cudnnGet##name##Descriptor)
CUDALINT_HANDLE(cudnnHandle_t, cudnnContext)
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream);
const char *cudnnGetErrorString(cudnnStatus_t status);
size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
DESCRIPTOR(Tensor) DESCRIPTOR(Filter) DESCRIPTOR(Convolution) DESCRIPTOR(Pooling)
DESCRIPTOR(Activation) DESCRIPTOR(LRN) DESCRIPTOR(OpTensor) DESCRIPTOR(ReduceTensor)
DESCRIPTOR(SpatialTransformer) DESCRIPTOR(Dropout) DESCRIPTOR(RNN) DESCRIPTOR(RNNData)
DESCRIPTOR(SeqData) DESCRIPTOR(Attn) DESCRIPTOR(CTCLoss) DESCRIPTOR(TensorTransform)
CUDALINT_HANDLE(cudnnPersistentRNNPlan_t, cudnnPersistentRNNPlan)
CUDALINT_HANDLE(cudnnFusedOpsPlan_t, cudnnFusedOpsPlanStruct)
typedef void *cudnnBackendDescriptor_t;
typedef int cudnnBackendDescriptorType_t;
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor);
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor);
F(cudnnSetTensor4dDescriptor) F(cudnnSetTensor4dDescriptorEx) F(cudnnGetTensor4dDescriptor)
F(cudnnSetTensorNdDescriptor) F(cudnnSetTensorNdDescriptorEx) F(cudnnGetTensorNdDescriptor)
F(cudnnSetFilter4dDescriptor) F(cudnnGetFilter4dDescriptor) F(cudnnSetFilterNdDescriptor)
F(cudnnSetConvolution2dDescriptor) F(cudnnGetConvolution2dDescriptor) F(cudnnSetConvolutionNdDescriptor)
F(cudnnGetConvolution2dForwardOutputDim) F(cudnnGetConvolutionNdForwardOutputDim)
F(cudnnSetConvolutionMathType) F(cudnnSetConvolutionGroupCount) F(cudnnSetPooling2dDescriptor)
F(cudnnGetPooling2dDescriptor) F(cudnnSetPoolingNdDescriptor) F(cudnnGetPooling2dForwardOutputDim)
F(cudnnConvolutionForward) F(cudnnConvolutionBackwardData) F(cudnnConvolutionBackwardFilter)
F(cudnnConvolutionBackwardBias) F(cudnnConvolutionBiasActivationForward)
F(cudnnGetConvolutionForwardAlgorithm) F(cudnnGetConvolutionForwardAlgorithm_v7)
F(cudnnFindConvolutionForwardAlgorithm) F(cudnnFindConvolutionForwardAlgorithmEx)
F(cudnnGetConvolutionForwardWorkspaceSize) F(cudnnGetConvolutionBackwardDataAlgorithm)
F(cudnnGetConvolutionBackwardDataAlgorithm_v7) F(cudnnGetConvolutionBackwardDataWorkspaceSize)
F(cudnnGetConvolutionBackwardFilterAlgorithm) F(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
F(cudnnGetConvolutionBackwardFilterWorkspaceSize) F(cudnnFindConvolutionBackwardDataAlgorithm)
F(cudnnFindConvolutionBackwardFilterAlgorithm) F(cudnnActivationForward) F(cudnnActivationBackward)
F(cudnnPoolingForward) F(cudnnPoolingBackward) F(cudnnSoftmaxForward) F(cudnnSoftmaxBackward)
F(cudnnAddTensor) F(cudnnOpTensor) F(cudnnReduceTensor) F(cudnnGetReductionWorkspaceSize)
F(cudnnScaleTensor) F(cudnnSetTensor) F(cudnnTransformTensor) F(cudnnDeriveBNTensorDescriptor)
F(cudnnBatchNormalizationForwardTraining) F(cudnnBatchNormalizationForwardInference)
F(cudnnBatchNormalizationBackward) F(cudnnLRNCrossChannelForward) F(cudnnLRNCrossChannelBackward)
F(cudnnDivisiveNormalizationForward) F(cudnnDivisiveNormalizationBackward) F(cudnnDropoutForward)
F(cudnnDropoutBackward) F(cudnnDropoutGetStatesSize) F(cudnnDropoutGetReserveSpaceSize)
F(cudnnRNNForward) F(cudnnRNNForwardTraining) F(cudnnRNNForwardInference) F(cudnnRNNBackwardData)
F(cudnnRNNBackwardWeights) F(cudnnGetRNNWorkspaceSize) F(cudnnGetRNNTrainingReserveSize)
F(cudnnGetRNNParamsSize) F(cudnnSetRNNDescriptor_v6) F(cudnnSetRNNDescriptor_v8)
F(cudnnGetRNNLinLayerMatrixParams) F(cudnnGetRNNLinLayerBiasParams) F(cudnnCTCLoss)
F(cudnnGetCTCLossWorkspaceSize) F(cudnnSpatialTfGridGeneratorForward) F(cudnnSpatialTfSamplerForward)
F(cudnnBackendSetAttribute) F(cudnnBackendGetAttribute) F(cudnnBackendFinalize) F(cudnnBackendExecute)
F(cudnnQueryRuntimeError) F(cudnnGetProperty)
#undef DESCRIPTOR
#undef F
CUDALINT_END
#endif
