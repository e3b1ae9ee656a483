/* NVML. */
#ifndef CUDALINT_NVML_H
#define CUDALINT_NVML_H
#include "cudalint_declarations.h"
#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_DEVICE_UUID_BUFFER_SIZE 80
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE 32
CUDALINT_BEGIN
CUDALINT_HANDLE(nvmlDevice_t, nvmlDevice_st)
CUDALINT_HANDLE(nvmlUnit_t, nvmlUnit_st)
CUDALINT_HANDLE(nvmlEventSet_t, nvmlEventSet_st)
typedef enum nvmlReturn_enum {
  NVML_SUCCESS = 0, NVML_ERROR_UNINITIALIZED = 1, NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3, NVML_ERROR_NO_PERMISSION = 4, NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6, NVML_ERROR_INSUFFICIENT_SIZE = 7, NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10, NVML_ERROR_LIBRARY_NOT_FOUND = 12, NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;
typedef enum { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 } nvmlEnableState_t;
typedef enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_CLOCK_VIDEO = 3 } nvmlClockType_t;
typedef enum { NVML_TEMPERATURE_GPU = 0 } nvmlTemperatureSensors_t;
typedef enum { NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1 } nvmlTemperatureThresholds_t;
typedef enum { NVML_TOTAL_POWER_SAMPLES = 0, NVML_GPU_UTILIZATION_SAMPLES = 1 } nvmlSamplingType_t;
typedef enum { NVML_VALUE_TYPE_DOUBLE = 0, NVML_VALUE_TYPE_UNSIGNED_INT = 1 } nvmlValueType_t;
typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; unsigned gpuInstanceId, computeInstanceId; } nvmlProcessInfo_t;
typedef struct { char busIdLegacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } nvmlPciInfo_t;
typedef union { double dVal; unsigned uiVal; unsigned long ulVal; unsigned long long ullVal; signed long long sllVal; } nvmlValue_t;
typedef struct { unsigned long long timeStamp; nvmlValue_t sampleValue; } nvmlSample_t;
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlDeviceGetCount(unsigned *count);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *bus, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);
#define F(name) CUDALINT_FUNCTION(nvmlReturn_t, nvml##name)
F(DeviceGetName) F(DeviceGetUUID) F(DeviceGetSerial) F(DeviceGetTemperature) F(DeviceGetPowerUsage)
F(DeviceGetUtilizationRates) F(DeviceGetClockInfo) F(DeviceGetMaxClockInfo) F(DeviceGetFanSpeed)
F(DeviceGetPciInfo) F(DeviceGetComputeRunningProcesses) F(DeviceGetTotalEnergyConsumption)
F(DeviceGetPowerManagementLimit) F(DeviceGetCurrentClocksThrottleReasons) F(DeviceGetSamples)
F(DeviceGetTemperatureThreshold) F(SystemGetDriverVersion) F(SystemGetNVMLVersion)
F(DeviceGetCudaComputeCapability) F(DeviceSetCpuAffinity) F(DeviceSetPersistenceMode)
F(DeviceSetGpuLockedClocks) F(DeviceResetGpuLockedClocks) F(DeviceGetIndex) F(DeviceGetMigMode)
F(DeviceRegisterEvents) F(DeviceGetTopologyCommonAncestor)
#undef F
CUDALINT_END
#endif
