// Written by `cargo xtask bindgen`. Do not edit.
unsafe extern "C" {
    pub fn nvmlInit_v2() -> nvmlReturn_t;
    pub fn nvmlInitWithFlags(flags: ::core::ffi::c_uint) -> nvmlReturn_t;
    pub fn nvmlShutdown() -> nvmlReturn_t;
    pub fn nvmlErrorString(result: nvmlReturn_t) -> *const ::core::ffi::c_char;
    pub fn nvmlSystemGetDriverVersion(
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetNVMLVersion(
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetCudaDriverVersion(
        cudaDriverVersion: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetCudaDriverVersion_v2(
        cudaDriverVersion: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetProcessName(
        pid: ::core::ffi::c_uint,
        name: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetHicVersion(
        hwbcCount: *mut ::core::ffi::c_uint,
        hwbcEntries: *mut nvmlHwbcEntry_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetTopologyGpuSet(
        cpuNumber: ::core::ffi::c_uint,
        count: *mut ::core::ffi::c_uint,
        deviceArray: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetDriverBranch(
        branchInfo: *mut nvmlSystemDriverBranchInfo_t,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetCPER_v1(cper: *mut nvmlGetCPER_v1_t) -> nvmlReturn_t;
    pub fn nvmlUnitGetCount(unitCount: *mut ::core::ffi::c_uint) -> nvmlReturn_t;
    pub fn nvmlUnitGetHandleByIndex(
        index: ::core::ffi::c_uint,
        unit: *mut nvmlUnit_t,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitGetUnitInfo(
        unit: nvmlUnit_t,
        info: *mut nvmlUnitInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitGetLedState(
        unit: nvmlUnit_t,
        state: *mut nvmlLedState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitGetPsuInfo(unit: nvmlUnit_t, psu: *mut nvmlPSUInfo_t) -> nvmlReturn_t;
    pub fn nvmlUnitGetTemperature(
        unit: nvmlUnit_t,
        type_: ::core::ffi::c_uint,
        temp: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitGetFanSpeedInfo(
        unit: nvmlUnit_t,
        fanSpeeds: *mut nvmlUnitFanSpeeds_t,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitGetDevices(
        unit: nvmlUnit_t,
        deviceCount: *mut ::core::ffi::c_uint,
        devices: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCount_v2(deviceCount: *mut ::core::ffi::c_uint) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAttributes_v2(
        device: nvmlDevice_t,
        attributes: *mut nvmlDeviceAttributes_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByIndex_v2(
        index: ::core::ffi::c_uint,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleBySerial(
        serial: *const ::core::ffi::c_char,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByUUID(
        uuid: *const ::core::ffi::c_char,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByUUIDV(
        uuid: *const nvmlUUID_t,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByPciBusId_v2(
        pciBusId: *const ::core::ffi::c_char,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetName(
        device: nvmlDevice_t,
        name: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBrand(
        device: nvmlDevice_t,
        type_: *mut nvmlBrandType_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetIndex(
        device: nvmlDevice_t,
        index: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSerial(
        device: nvmlDevice_t,
        serial: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetModuleId(
        device: nvmlDevice_t,
        moduleId: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetC2cModeInfoV(
        device: nvmlDevice_t,
        c2cModeInfo: *mut nvmlC2cModeInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryAffinity(
        device: nvmlDevice_t,
        nodeSetSize: ::core::ffi::c_uint,
        nodeSet: *mut ::core::ffi::c_ulong,
        scope: nvmlAffinityScope_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCpuAffinityWithinScope(
        device: nvmlDevice_t,
        cpuSetSize: ::core::ffi::c_uint,
        cpuSet: *mut ::core::ffi::c_ulong,
        scope: nvmlAffinityScope_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCpuAffinity(
        device: nvmlDevice_t,
        cpuSetSize: ::core::ffi::c_uint,
        cpuSet: *mut ::core::ffi::c_ulong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetCpuAffinity(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceClearCpuAffinity(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNumaNodeId(
        device: nvmlDevice_t,
        node: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAddressingMode(
        device: nvmlDevice_t,
        mode: *mut nvmlDeviceAddressingMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRepairStatus(
        device: nvmlDevice_t,
        repairStatus: *mut nvmlRepairStatus_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetUnrepairableMemoryFlag_v1(
        device: nvmlDevice_t,
        unrepairableMemoryStatus: *mut nvmlUnrepairableMemoryStatus_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTopologyCommonAncestor(
        device1: nvmlDevice_t,
        device2: nvmlDevice_t,
        pathInfo: *mut nvmlGpuTopologyLevel_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTopologyNearestGpus(
        device: nvmlDevice_t,
        level: nvmlGpuTopologyLevel_t,
        count: *mut ::core::ffi::c_uint,
        deviceArray: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetP2PStatus(
        device1: nvmlDevice_t,
        device2: nvmlDevice_t,
        p2pIndex: nvmlGpuP2PCapsIndex_t,
        p2pStatus: *mut nvmlGpuP2PStatus_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetUUID(
        device: nvmlDevice_t,
        uuid: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMinorNumber(
        device: nvmlDevice_t,
        minorNumber: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBoardPartNumber(
        device: nvmlDevice_t,
        partNumber: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetInforomVersion(
        device: nvmlDevice_t,
        object: nvmlInforomObject_t,
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetInforomImageVersion(
        device: nvmlDevice_t,
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetInforomConfigurationChecksum(
        device: nvmlDevice_t,
        checksum: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceValidateInforom(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetLastBBXFlushTime(
        device: nvmlDevice_t,
        timestamp: *mut ::core::ffi::c_ulonglong,
        durationUs: *mut ::core::ffi::c_ulong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBBXTimeData_v1(
        device: nvmlDevice_t,
        timeData: *mut nvmlBBXTimeData_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuUptime_v1(
        device: nvmlDevice_t,
        uptime: *mut nvmlGpuUptime_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDisplayMode(
        device: nvmlDevice_t,
        display: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDisplayActive(
        device: nvmlDevice_t,
        isActive: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPersistenceMode(
        device: nvmlDevice_t,
        mode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPciInfoExt(
        device: nvmlDevice_t,
        pci: *mut nvmlPciInfoExt_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPciInfo_v3(
        device: nvmlDevice_t,
        pci: *mut nvmlPciInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMaxPcieLinkGeneration(
        device: nvmlDevice_t,
        maxLinkGen: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuMaxPcieLinkGeneration(
        device: nvmlDevice_t,
        maxLinkGenDevice: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMaxPcieLinkWidth(
        device: nvmlDevice_t,
        maxLinkWidth: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCurrPcieLinkGeneration(
        device: nvmlDevice_t,
        currLinkGen: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCurrPcieLinkWidth(
        device: nvmlDevice_t,
        currLinkWidth: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPcieThroughput(
        device: nvmlDevice_t,
        counter: nvmlPcieUtilCounter_t,
        value: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPcieReplayCounter(
        device: nvmlDevice_t,
        value: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetClockInfo(
        device: nvmlDevice_t,
        type_: nvmlClockType_t,
        clock: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMaxClockInfo(
        device: nvmlDevice_t,
        type_: nvmlClockType_t,
        clock: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpcClkVfOffset(
        device: nvmlDevice_t,
        offset: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetApplicationsClock(
        device: nvmlDevice_t,
        clockType: nvmlClockType_t,
        clockMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDefaultApplicationsClock(
        device: nvmlDevice_t,
        clockType: nvmlClockType_t,
        clockMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetClock(
        device: nvmlDevice_t,
        clockType: nvmlClockType_t,
        clockId: nvmlClockId_t,
        clockMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMaxCustomerBoostClock(
        device: nvmlDevice_t,
        clockType: nvmlClockType_t,
        clockMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedMemoryClocks(
        device: nvmlDevice_t,
        count: *mut ::core::ffi::c_uint,
        clocksMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedGraphicsClocks(
        device: nvmlDevice_t,
        memoryClockMHz: ::core::ffi::c_uint,
        count: *mut ::core::ffi::c_uint,
        clocksMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAutoBoostedClocksEnabled(
        device: nvmlDevice_t,
        isEnabled: *mut nvmlEnableState_t,
        defaultIsEnabled: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFanSpeed(
        device: nvmlDevice_t,
        speed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFanSpeed_v2(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
        speed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFanSpeedRPM(
        device: nvmlDevice_t,
        fanSpeed: *mut nvmlFanSpeedInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTargetFanSpeed(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
        targetSpeed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMinMaxFanSpeed(
        device: nvmlDevice_t,
        minSpeed: *mut ::core::ffi::c_uint,
        maxSpeed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFanControlPolicy_v2(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
        policy: *mut nvmlFanControlPolicy_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNumFans(
        device: nvmlDevice_t,
        numFans: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTemperature(
        device: nvmlDevice_t,
        sensorType: nvmlTemperatureSensors_t,
        temp: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCoolerInfo(
        device: nvmlDevice_t,
        coolerInfo: *mut nvmlCoolerInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTemperatureV(
        device: nvmlDevice_t,
        temperature: *mut nvmlTemperature_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTemperatureThreshold(
        device: nvmlDevice_t,
        thresholdType: nvmlTemperatureThresholds_t,
        temp: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMarginTemperature(
        device: nvmlDevice_t,
        marginTempInfo: *mut nvmlMarginTemperature_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetThermalSettings(
        device: nvmlDevice_t,
        sensorIndex: ::core::ffi::c_uint,
        pThermalSettings: *mut nvmlGpuThermalSettings_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPerformanceState(
        device: nvmlDevice_t,
        pState: *mut nvmlPstates_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCurrentClocksEventReasons(
        device: nvmlDevice_t,
        clocksEventReasons: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCurrentClocksThrottleReasons(
        device: nvmlDevice_t,
        clocksThrottleReasons: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedClocksEventReasons(
        device: nvmlDevice_t,
        supportedClocksEventReasons: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedClocksThrottleReasons(
        device: nvmlDevice_t,
        supportedClocksThrottleReasons: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerState(
        device: nvmlDevice_t,
        pState: *mut nvmlPstates_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDynamicPstatesInfo(
        device: nvmlDevice_t,
        pDynamicPstatesInfo: *mut nvmlGpuDynamicPstatesInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemClkVfOffset(
        device: nvmlDevice_t,
        offset: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMinMaxClockOfPState(
        device: nvmlDevice_t,
        type_: nvmlClockType_t,
        pstate: nvmlPstates_t,
        minClockMHz: *mut ::core::ffi::c_uint,
        maxClockMHz: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedPerformanceStates(
        device: nvmlDevice_t,
        pstates: *mut nvmlPstates_t,
        size: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpcClkMinMaxVfOffset(
        device: nvmlDevice_t,
        minOffset: *mut ::core::ffi::c_int,
        maxOffset: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemClkMinMaxVfOffset(
        device: nvmlDevice_t,
        minOffset: *mut ::core::ffi::c_int,
        maxOffset: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetClockOffsets(
        device: nvmlDevice_t,
        info: *mut nvmlClockOffset_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetClockOffsets(
        device: nvmlDevice_t,
        info: *mut nvmlClockOffset_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPerformanceModes(
        device: nvmlDevice_t,
        perfModes: *mut nvmlDevicePerfModes_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCurrentClockFreqs(
        device: nvmlDevice_t,
        currentClockFreqs: *mut nvmlDeviceCurrentClockFreqs_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerManagementMode(
        device: nvmlDevice_t,
        mode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerManagementLimit(
        device: nvmlDevice_t,
        limit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerManagementLimitConstraints(
        device: nvmlDevice_t,
        minLimit: *mut ::core::ffi::c_uint,
        maxLimit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerManagementDefaultLimit(
        device: nvmlDevice_t,
        defaultLimit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerUsage(
        device: nvmlDevice_t,
        power: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerMizerMode_v1(
        device: nvmlDevice_t,
        powerMizerMode: *mut nvmlDevicePowerMizerModes_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetPowerMizerMode_v1(
        device: nvmlDevice_t,
        powerMizerMode: *mut nvmlDevicePowerMizerModes_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTotalEnergyConsumption(
        device: nvmlDevice_t,
        energy: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEnforcedPowerLimit(
        device: nvmlDevice_t,
        limit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetAdaptiveTgpMode_v1(
        device: nvmlDevice_t,
        mode: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAdaptiveTgpModeInfo_v1(
        device: nvmlDevice_t,
        info: *mut nvmlAdaptiveTgpModeInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuOperationMode(
        device: nvmlDevice_t,
        current: *mut nvmlGpuOperationMode_t,
        pending: *mut nvmlGpuOperationMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryInfo(
        device: nvmlDevice_t,
        memory: *mut nvmlMemory_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryInfo_v2(
        device: nvmlDevice_t,
        memory: *mut nvmlMemory_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetMemoryLimits_v1(
        device: nvmlDevice_t,
        limits: *mut nvmlSetMemoryLimits_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryLimits_v1(
        device: nvmlDevice_t,
        limits: *mut nvmlGetMemoryLimits_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetComputeMode(
        device: nvmlDevice_t,
        mode: *mut nvmlComputeMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCudaComputeCapability(
        device: nvmlDevice_t,
        major: *mut ::core::ffi::c_int,
        minor: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDramEncryptionMode(
        device: nvmlDevice_t,
        current: *mut nvmlDramEncryptionInfo_t,
        pending: *mut nvmlDramEncryptionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetDramEncryptionMode(
        device: nvmlDevice_t,
        dramEncryption: *const nvmlDramEncryptionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEccMode(
        device: nvmlDevice_t,
        current: *mut nvmlEnableState_t,
        pending: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDefaultEccMode(
        device: nvmlDevice_t,
        defaultMode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBoardId(
        device: nvmlDevice_t,
        boardId: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMultiGpuBoard(
        device: nvmlDevice_t,
        multiGpuBool: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetTotalEccErrors(
        device: nvmlDevice_t,
        errorType: nvmlMemoryErrorType_t,
        counterType: nvmlEccCounterType_t,
        eccCounts: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDetailedEccErrors(
        device: nvmlDevice_t,
        errorType: nvmlMemoryErrorType_t,
        counterType: nvmlEccCounterType_t,
        eccCounts: *mut nvmlEccErrorCounts_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryErrorCounter(
        device: nvmlDevice_t,
        errorType: nvmlMemoryErrorType_t,
        counterType: nvmlEccCounterType_t,
        locationType: nvmlMemoryLocation_t,
        count: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetUtilizationRates(
        device: nvmlDevice_t,
        utilization: *mut nvmlUtilization_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEncoderUtilization(
        device: nvmlDevice_t,
        utilization: *mut ::core::ffi::c_uint,
        samplingPeriodUs: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEncoderCapacity(
        device: nvmlDevice_t,
        encoderQueryType: nvmlEncoderType_t,
        encoderCapacity: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEncoderStats(
        device: nvmlDevice_t,
        sessionCount: *mut ::core::ffi::c_uint,
        averageFps: *mut ::core::ffi::c_uint,
        averageLatency: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetEncoderSessions(
        device: nvmlDevice_t,
        sessionCount: *mut ::core::ffi::c_uint,
        sessionInfos: *mut nvmlEncoderSessionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDecoderUtilization(
        device: nvmlDevice_t,
        utilization: *mut ::core::ffi::c_uint,
        samplingPeriodUs: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetJpgUtilization(
        device: nvmlDevice_t,
        utilization: *mut ::core::ffi::c_uint,
        samplingPeriodUs: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetOfaUtilization(
        device: nvmlDevice_t,
        utilization: *mut ::core::ffi::c_uint,
        samplingPeriodUs: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFBCStats(
        device: nvmlDevice_t,
        fbcStats: *mut nvmlFBCStats_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFBCSessions(
        device: nvmlDevice_t,
        sessionCount: *mut ::core::ffi::c_uint,
        sessionInfo: *mut nvmlFBCSessionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDriverModel_v2(
        device: nvmlDevice_t,
        current: *mut nvmlDriverModel_t,
        pending: *mut nvmlDriverModel_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVbiosVersion(
        device: nvmlDevice_t,
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBridgeChipInfo(
        device: nvmlDevice_t,
        bridgeHierarchy: *mut nvmlBridgeChipHierarchy_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetComputeRunningProcesses_v3(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGraphicsRunningProcesses_v3(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMPSComputeRunningProcesses_v3(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRunningProcessDetailList(
        device: nvmlDevice_t,
        plist: *mut nvmlProcessDetailList_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceOnSameBoard(
        device1: nvmlDevice_t,
        device2: nvmlDevice_t,
        onSameBoard: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAPIRestriction(
        device: nvmlDevice_t,
        apiType: nvmlRestrictedAPI_t,
        isRestricted: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSamples(
        device: nvmlDevice_t,
        type_: nvmlSamplingType_t,
        lastSeenTimeStamp: ::core::ffi::c_ulonglong,
        sampleValType: *mut nvmlValueType_t,
        sampleCount: *mut ::core::ffi::c_uint,
        samples: *mut nvmlSample_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBAR1MemoryInfo(
        device: nvmlDevice_t,
        bar1Memory: *mut nvmlBAR1Memory_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetViolationStatus(
        device: nvmlDevice_t,
        perfPolicyType: nvmlPerfPolicyType_t,
        violTime: *mut nvmlViolationTime_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetIrqNum(
        device: nvmlDevice_t,
        irqNum: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNumGpuCores(
        device: nvmlDevice_t,
        numCores: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPowerSource(
        device: nvmlDevice_t,
        powerSource: *mut nvmlPowerSource_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMemoryBusWidth(
        device: nvmlDevice_t,
        busWidth: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPcieLinkMaxSpeed(
        device: nvmlDevice_t,
        maxSpeed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPcieSpeed(
        device: nvmlDevice_t,
        pcieSpeed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAdaptiveClockInfoStatus(
        device: nvmlDevice_t,
        adaptiveClockStatus: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBusType(
        device: nvmlDevice_t,
        type_: *mut nvmlBusType_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuFabricInfo(
        device: nvmlDevice_t,
        gpuFabricInfo: *mut nvmlGpuFabricInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuFabricInfoV(
        device: nvmlDevice_t,
        gpuFabricInfo: *mut nvmlGpuFabricInfoV_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuFabricInfo_v4(
        device: nvmlDevice_t,
        gpuFabricInfo: *mut nvmlGpuFabricInfo_v4_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeCapabilities(
        capabilities: *mut nvmlConfComputeSystemCaps_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeState(
        state: *mut nvmlConfComputeSystemState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetConfComputeMemSizeInfo(
        device: nvmlDevice_t,
        memInfo: *mut nvmlConfComputeMemSizeInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeGpusReadyState(
        isAcceptingWork: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetConfComputeProtectedMemoryUsage(
        device: nvmlDevice_t,
        memory: *mut nvmlMemory_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetConfComputeGpuCertificate(
        device: nvmlDevice_t,
        gpuCert: *mut nvmlConfComputeGpuCertificate_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetConfComputeGpuAttestationReport(
        device: nvmlDevice_t,
        gpuAtstReport: *mut nvmlConfComputeGpuAttestationReport_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeKeyRotationThresholdInfo(
        pKeyRotationThrInfo: *mut nvmlConfComputeGetKeyRotationThresholdInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetConfComputeUnprotectedMemSize(
        device: nvmlDevice_t,
        sizeKiB: ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemSetConfComputeGpusReadyState(
        isAcceptingWork: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemSetConfComputeKeyRotationThresholdInfo(
        pKeyRotationThrInfo: *mut nvmlConfComputeSetKeyRotationThresholdInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeSettings(
        settings: *mut nvmlSystemConfComputeSettings_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemGetConfComputeSettings_v2(
        settings: *mut nvmlSystemConfComputeSettings_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGspFirmwareVersion(
        device: nvmlDevice_t,
        version: *mut ::core::ffi::c_char,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGspFirmwareMode(
        device: nvmlDevice_t,
        isEnabled: *mut ::core::ffi::c_uint,
        defaultMode: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSramEccErrorStatus(
        device: nvmlDevice_t,
        status: *mut nvmlEccSramErrorStatus_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetPowerManagementLimit_v2(
        device: nvmlDevice_t,
        powerValue: *mut nvmlPowerValue_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAccountingMode(
        device: nvmlDevice_t,
        mode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAccountingStats(
        device: nvmlDevice_t,
        pid: ::core::ffi::c_uint,
        stats: *mut nvmlAccountingStats_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAccountingPids(
        device: nvmlDevice_t,
        count: *mut ::core::ffi::c_uint,
        pids: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAccountingBufferSize(
        device: nvmlDevice_t,
        bufferSize: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAccountingStats_v2(
        device: nvmlDevice_t,
        stats: *mut nvmlAccountingStats_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRetiredPages(
        device: nvmlDevice_t,
        cause: nvmlPageRetirementCause_t,
        pageCount: *mut ::core::ffi::c_uint,
        addresses: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRetiredPages_v2(
        device: nvmlDevice_t,
        cause: nvmlPageRetirementCause_t,
        pageCount: *mut ::core::ffi::c_uint,
        addresses: *mut ::core::ffi::c_ulonglong,
        timestamps: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRetiredPagesPendingStatus(
        device: nvmlDevice_t,
        isPending: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRemappedRows(
        device: nvmlDevice_t,
        corrRows: *mut ::core::ffi::c_uint,
        uncRows: *mut ::core::ffi::c_uint,
        isPending: *mut ::core::ffi::c_uint,
        failureOccurred: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRowRemapperHistogram(
        device: nvmlDevice_t,
        values: *mut nvmlRowRemapperHistogramValues_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetArchitecture(
        device: nvmlDevice_t,
        arch: *mut nvmlDeviceArchitecture_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetClkMonStatus(
        device: nvmlDevice_t,
        status: *mut nvmlClkMonStatus_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetProcessUtilization(
        device: nvmlDevice_t,
        utilization: *mut nvmlProcessUtilizationSample_t,
        processSamplesCount: *mut ::core::ffi::c_uint,
        lastSeenTimeStamp: ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetProcessesUtilizationInfo(
        device: nvmlDevice_t,
        procesesUtilInfo: *mut nvmlProcessesUtilizationInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPlatformInfo(
        device: nvmlDevice_t,
        platformInfo: *mut nvmlPlatformInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPdi(device: nvmlDevice_t, pdi: *mut nvmlPdi_t) -> nvmlReturn_t;
    pub fn nvmlDeviceSetHostname_v1(
        device: nvmlDevice_t,
        hostname: *mut nvmlHostname_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHostname_v1(
        device: nvmlDevice_t,
        hostname: *mut nvmlHostname_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDevicePerfMetricsGetSamples_v1(
        device: nvmlDevice_t,
        samples: *mut nvmlPerfMetricsSamples_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlUnitSetLedState(unit: nvmlUnit_t, color: nvmlLedColor_t) -> nvmlReturn_t;
    pub fn nvmlDeviceSetPersistenceMode(
        device: nvmlDevice_t,
        mode: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetComputeMode(
        device: nvmlDevice_t,
        mode: nvmlComputeMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetEccMode(
        device: nvmlDevice_t,
        ecc: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceClearEccErrorCounts(
        device: nvmlDevice_t,
        counterType: nvmlEccCounterType_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetDriverModel(
        device: nvmlDevice_t,
        driverModel: nvmlDriverModel_t,
        flags: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetGpuLockedClocks(
        device: nvmlDevice_t,
        minGpuClockMHz: ::core::ffi::c_uint,
        maxGpuClockMHz: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceResetGpuLockedClocks(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceSetMemoryLockedClocks(
        device: nvmlDevice_t,
        minMemClockMHz: ::core::ffi::c_uint,
        maxMemClockMHz: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceResetMemoryLockedClocks(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceSetApplicationsClocks(
        device: nvmlDevice_t,
        memClockMHz: ::core::ffi::c_uint,
        graphicsClockMHz: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceResetApplicationsClocks(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceSetAutoBoostedClocksEnabled(
        device: nvmlDevice_t,
        enabled: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetDefaultAutoBoostedClocksEnabled(
        device: nvmlDevice_t,
        enabled: nvmlEnableState_t,
        flags: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetDefaultFanSpeed_v2(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetFanControlPolicy(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
        policy: nvmlFanControlPolicy_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetTemperatureThreshold(
        device: nvmlDevice_t,
        thresholdType: nvmlTemperatureThresholds_t,
        temp: *mut ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetPowerManagementLimit(
        device: nvmlDevice_t,
        limit: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetGpuOperationMode(
        device: nvmlDevice_t,
        mode: nvmlGpuOperationMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetAPIRestriction(
        device: nvmlDevice_t,
        apiType: nvmlRestrictedAPI_t,
        isRestricted: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetFanSpeed_v2(
        device: nvmlDevice_t,
        fan: ::core::ffi::c_uint,
        speed: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetGpcClkVfOffset(
        device: nvmlDevice_t,
        offset: ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetMemClkVfOffset(
        device: nvmlDevice_t,
        offset: ::core::ffi::c_int,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetAccountingMode(
        device: nvmlDevice_t,
        mode: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceClearAccountingPids(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkState(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        isActive: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkVersion(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        version: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkCapability(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        capability: nvmlNvLinkCapability_t,
        capResult: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        pci: *mut nvmlPciInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkErrorCounter(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: nvmlNvLinkErrorCounter_t,
        counterValue: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceResetNvLinkErrorCounters(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetNvLinkUtilizationControl(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: ::core::ffi::c_uint,
        control: *mut nvmlNvLinkUtilizationControl_t,
        reset: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkUtilizationControl(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: ::core::ffi::c_uint,
        control: *mut nvmlNvLinkUtilizationControl_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkUtilizationCounter(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: ::core::ffi::c_uint,
        rxcounter: *mut ::core::ffi::c_ulonglong,
        txcounter: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceFreezeNvLinkUtilizationCounter(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: ::core::ffi::c_uint,
        freeze: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceResetNvLinkUtilizationCounter(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        counter: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkRemoteDeviceType(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        pNvLinkDeviceType: *mut nvmlIntNvLinkDeviceType_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetNvLinkDeviceLowPowerThreshold(
        device: nvmlDevice_t,
        info: *mut nvmlNvLinkPowerThres_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemSetNvlinkBwMode(nvlinkBwMode: ::core::ffi::c_uint) -> nvmlReturn_t;
    pub fn nvmlSystemGetNvlinkBwMode(
        nvlinkBwMode: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvlinkSupportedBwModes(
        device: nvmlDevice_t,
        supportedBwMode: *mut nvmlNvlinkSupportedBwModes_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvlinkBwMode(
        device: nvmlDevice_t,
        getBwMode: *mut nvmlNvlinkGetBwMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetNvlinkBwMode(
        device: nvmlDevice_t,
        setBwMode: *mut nvmlNvlinkSetBwMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetNvlinkBwModeAsync_v1(
        device: nvmlDevice_t,
        setBwModeAsync: *mut nvmlNvlinkSetBwModeAsync_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkInfo(
        device: nvmlDevice_t,
        info: *mut nvmlNvLinkInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkInfo_v3(
        device: nvmlDevice_t,
        info: *mut nvmlNvLinkInfo_v3_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkTelemetrySamples_v1(
        device: nvmlDevice_t,
        samples: *mut nvmlNvlinkTelemetrySamples_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvlinkRemapTableInfo_v1(
        device: nvmlDevice_t,
        remapTableInfo: *mut nvmlNvlinkGetRemapTableInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetNvlinkNvleReady_v1(
        device: nvmlDevice_t,
        setNvleReady: *mut nvmlNvlinkSetNvleReady_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceLockNvlinkRemapTable_v1(
        device: nvmlDevice_t,
        remapTableLockInfo: *mut nvmlNvlinkLockRemapTable_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetupNvlinkNvleEncryptionKey_v1(
        device: nvmlDevice_t,
        encryptionKey: *mut nvmlNvlinkSetupNvleEncryptionKey_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvlinkNvlePrivateInfo_v1(
        device: nvmlDevice_t,
        privateInfo: *mut nvmlNvlinkNvlePrivateInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetCreate(set: *mut nvmlEventSet_t) -> nvmlReturn_t;
    pub fn nvmlDeviceRegisterEvents(
        device: nvmlDevice_t,
        eventTypes: ::core::ffi::c_ulonglong,
        set: nvmlEventSet_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedEventTypes(
        device: nvmlDevice_t,
        eventTypes: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetWait_v2(
        set: nvmlEventSet_t,
        data: *mut nvmlEventData_t,
        timeoutms: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetRegisterGpuOperationalEvents_v1(
        eventSet: nvmlEventSet_t,
        config: *const nvmlGpuOperationalEventConfig_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetWait_v3(
        set: nvmlEventSet_t,
        params: *mut nvmlEventSetWait_v3_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetGetContextCount_v1(
        set: nvmlEventSet_t,
        params: *mut nvmlEventSetGetContextCount_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetGetContextInfo_v1(
        set: nvmlEventSet_t,
        params: *mut nvmlEventSetGetContextInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetGetContextData_v1(
        set: nvmlEventSet_t,
        params: *mut nvmlEventSetGetContextData_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1(
        set: nvmlEventSet_t,
        params: *mut nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlEventSetFree(set: nvmlEventSet_t) -> nvmlReturn_t;
    pub fn nvmlSystemEventSetCreate(
        request: *mut nvmlSystemEventSetCreateRequest_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemEventSetFree(
        request: *mut nvmlSystemEventSetFreeRequest_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemRegisterEvents(
        request: *mut nvmlSystemRegisterEventRequest_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSystemEventSetWait(
        request: *mut nvmlSystemEventSetWaitRequest_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceModifyDrainState(
        pciInfo: *mut nvmlPciInfo_t,
        newState: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceQueryDrainState(
        pciInfo: *mut nvmlPciInfo_t,
        currentState: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceRemoveGpu_v2(
        pciInfo: *mut nvmlPciInfo_t,
        gpuState: nvmlDetachGpuState_t,
        linkState: nvmlPcieLinkState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceDiscoverGpus(pciInfo: *mut nvmlPciInfo_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetFieldValues(
        device: nvmlDevice_t,
        valuesCount: ::core::ffi::c_int,
        values: *mut nvmlFieldValue_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceClearFieldValues(
        device: nvmlDevice_t,
        valuesCount: ::core::ffi::c_int,
        values: *mut nvmlFieldValue_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVirtualizationMode(
        device: nvmlDevice_t,
        pVirtualMode: *mut nvmlGpuVirtualizationMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHostVgpuMode(
        device: nvmlDevice_t,
        pHostVgpuMode: *mut nvmlHostVgpuMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetVirtualizationMode(
        device: nvmlDevice_t,
        virtualMode: nvmlGpuVirtualizationMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuHeterogeneousMode(
        device: nvmlDevice_t,
        pHeterogeneousMode: *mut nvmlVgpuHeterogeneousMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetVgpuHeterogeneousMode(
        device: nvmlDevice_t,
        pHeterogeneousMode: *const nvmlVgpuHeterogeneousMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetPlacementId(
        vgpuInstance: nvmlVgpuInstance_t,
        pPlacement: *mut nvmlVgpuPlacementId_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuTypeSupportedPlacements(
        device: nvmlDevice_t,
        vgpuTypeId: nvmlVgpuTypeId_t,
        pPlacementList: *mut nvmlVgpuPlacementList_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuTypeCreatablePlacements(
        device: nvmlDevice_t,
        vgpuTypeId: nvmlVgpuTypeId_t,
        pPlacementList: *mut nvmlVgpuPlacementList_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetGspHeapSize(
        vgpuTypeId: nvmlVgpuTypeId_t,
        gspHeapSize: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetFbReservation(
        vgpuTypeId: nvmlVgpuTypeId_t,
        fbReservation: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetRuntimeStateSize(
        vgpuInstance: nvmlVgpuInstance_t,
        pState: *mut nvmlVgpuRuntimeState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetVgpuCapabilities(
        device: nvmlDevice_t,
        capability: nvmlDeviceVgpuCapability_t,
        state: nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceVgpuForceGspUnload(device: nvmlDevice_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGridLicensableFeatures_v4(
        device: nvmlDevice_t,
        pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGetVgpuDriverCapabilities(
        capability: nvmlVgpuDriverCapability_t,
        capResult: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuCapabilities(
        device: nvmlDevice_t,
        capability: nvmlDeviceVgpuCapability_t,
        capResult: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSupportedVgpus(
        device: nvmlDevice_t,
        vgpuCount: *mut ::core::ffi::c_uint,
        vgpuTypeIds: *mut nvmlVgpuTypeId_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCreatableVgpus(
        device: nvmlDevice_t,
        vgpuCount: *mut ::core::ffi::c_uint,
        vgpuTypeIds: *mut nvmlVgpuTypeId_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetClass(
        vgpuTypeId: nvmlVgpuTypeId_t,
        vgpuTypeClass: *mut ::core::ffi::c_char,
        size: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetName(
        vgpuTypeId: nvmlVgpuTypeId_t,
        vgpuTypeName: *mut ::core::ffi::c_char,
        size: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetGpuInstanceProfileId(
        vgpuTypeId: nvmlVgpuTypeId_t,
        gpuInstanceProfileId: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetDeviceID(
        vgpuTypeId: nvmlVgpuTypeId_t,
        deviceID: *mut ::core::ffi::c_ulonglong,
        subsystemID: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetFramebufferSize(
        vgpuTypeId: nvmlVgpuTypeId_t,
        fbSize: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetNumDisplayHeads(
        vgpuTypeId: nvmlVgpuTypeId_t,
        numDisplayHeads: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetResolution(
        vgpuTypeId: nvmlVgpuTypeId_t,
        displayIndex: ::core::ffi::c_uint,
        xdim: *mut ::core::ffi::c_uint,
        ydim: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetLicense(
        vgpuTypeId: nvmlVgpuTypeId_t,
        vgpuTypeLicenseString: *mut ::core::ffi::c_char,
        size: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetFrameRateLimit(
        vgpuTypeId: nvmlVgpuTypeId_t,
        frameRateLimit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetMaxInstances(
        device: nvmlDevice_t,
        vgpuTypeId: nvmlVgpuTypeId_t,
        vgpuInstanceCount: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetMaxInstancesPerVm(
        vgpuTypeId: nvmlVgpuTypeId_t,
        vgpuInstanceCountPerVm: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetBAR1Info(
        vgpuTypeId: nvmlVgpuTypeId_t,
        bar1Info: *mut nvmlVgpuTypeBar1Info_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetActiveVgpus(
        device: nvmlDevice_t,
        vgpuCount: *mut ::core::ffi::c_uint,
        vgpuInstances: *mut nvmlVgpuInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetVmID(
        vgpuInstance: nvmlVgpuInstance_t,
        vmId: *mut ::core::ffi::c_char,
        size: ::core::ffi::c_uint,
        vmIdType: *mut nvmlVgpuVmIdType_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetUUID(
        vgpuInstance: nvmlVgpuInstance_t,
        uuid: *mut ::core::ffi::c_char,
        size: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetVmDriverVersion(
        vgpuInstance: nvmlVgpuInstance_t,
        version: *mut ::core::ffi::c_char,
        length: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetFbUsage(
        vgpuInstance: nvmlVgpuInstance_t,
        fbUsage: *mut ::core::ffi::c_ulonglong,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetLicenseStatus(
        vgpuInstance: nvmlVgpuInstance_t,
        licensed: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetType(
        vgpuInstance: nvmlVgpuInstance_t,
        vgpuTypeId: *mut nvmlVgpuTypeId_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetFrameRateLimit(
        vgpuInstance: nvmlVgpuInstance_t,
        frameRateLimit: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetEccMode(
        vgpuInstance: nvmlVgpuInstance_t,
        eccMode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetEncoderCapacity(
        vgpuInstance: nvmlVgpuInstance_t,
        encoderCapacity: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceSetEncoderCapacity(
        vgpuInstance: nvmlVgpuInstance_t,
        encoderCapacity: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetEncoderStats(
        vgpuInstance: nvmlVgpuInstance_t,
        sessionCount: *mut ::core::ffi::c_uint,
        averageFps: *mut ::core::ffi::c_uint,
        averageLatency: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetEncoderSessions(
        vgpuInstance: nvmlVgpuInstance_t,
        sessionCount: *mut ::core::ffi::c_uint,
        sessionInfo: *mut nvmlEncoderSessionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetFBCStats(
        vgpuInstance: nvmlVgpuInstance_t,
        fbcStats: *mut nvmlFBCStats_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetFBCSessions(
        vgpuInstance: nvmlVgpuInstance_t,
        sessionCount: *mut ::core::ffi::c_uint,
        sessionInfo: *mut nvmlFBCSessionInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetGpuInstanceId(
        vgpuInstance: nvmlVgpuInstance_t,
        gpuInstanceId: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetGpuPciId(
        vgpuInstance: nvmlVgpuInstance_t,
        vgpuPciId: *mut ::core::ffi::c_char,
        length: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetCapabilities(
        vgpuTypeId: nvmlVgpuTypeId_t,
        capability: nvmlVgpuCapability_t,
        capResult: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetMdevUUID(
        vgpuInstance: nvmlVgpuInstance_t,
        mdevUuid: *mut ::core::ffi::c_char,
        size: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetCreatableVgpus(
        gpuInstance: nvmlGpuInstance_t,
        pVgpus: *mut nvmlVgpuTypeIdInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuTypeGetMaxInstancesPerGpuInstance(
        pMaxInstance: *mut nvmlVgpuTypeMaxInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetActiveVgpus(
        gpuInstance: nvmlGpuInstance_t,
        pVgpuInstanceInfo: *mut nvmlActiveVgpuInstanceInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceSetVgpuSchedulerState(
        gpuInstance: nvmlGpuInstance_t,
        pScheduler: *mut nvmlVgpuSchedulerState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuSchedulerState(
        gpuInstance: nvmlGpuInstance_t,
        pSchedulerStateInfo: *mut nvmlVgpuSchedulerStateInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuSchedulerLog(
        gpuInstance: nvmlGpuInstance_t,
        pSchedulerLogInfo: *mut nvmlVgpuSchedulerLogInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuTypeCreatablePlacements(
        gpuInstance: nvmlGpuInstance_t,
        pCreatablePlacementInfo: *mut nvmlVgpuCreatablePlacementInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuHeterogeneousMode(
        gpuInstance: nvmlGpuInstance_t,
        pHeterogeneousMode: *mut nvmlVgpuHeterogeneousMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceSetVgpuHeterogeneousMode(
        gpuInstance: nvmlGpuInstance_t,
        pHeterogeneousMode: *const nvmlVgpuHeterogeneousMode_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuSchedulerState_v2(
        device: nvmlDevice_t,
        pSchedulerStateInfo: *mut nvmlVgpuSchedulerStateInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuSchedulerState_v2(
        gpuInstance: nvmlGpuInstance_t,
        pSchedulerStateInfo: *mut nvmlVgpuSchedulerStateInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuSchedulerLog_v2(
        device: nvmlDevice_t,
        pSchedulerLogInfo: *mut nvmlVgpuSchedulerLogInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetVgpuSchedulerLog_v2(
        gpuInstance: nvmlGpuInstance_t,
        pSchedulerLogInfo: *mut nvmlVgpuSchedulerLogInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetVgpuSchedulerState_v2(
        device: nvmlDevice_t,
        pSchedulerState: *mut nvmlVgpuSchedulerState_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceSetVgpuSchedulerState_v2(
        gpuInstance: nvmlGpuInstance_t,
        pSchedulerState: *mut nvmlVgpuSchedulerState_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetMetadata(
        vgpuInstance: nvmlVgpuInstance_t,
        vgpuMetadata: *mut nvmlVgpuMetadata_t,
        bufferSize: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuMetadata(
        device: nvmlDevice_t,
        pgpuMetadata: *mut nvmlVgpuPgpuMetadata_t,
        bufferSize: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGetVgpuCompatibility(
        vgpuMetadata: *mut nvmlVgpuMetadata_t,
        pgpuMetadata: *mut nvmlVgpuPgpuMetadata_t,
        compatibilityInfo: *mut nvmlVgpuPgpuCompatibility_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPgpuMetadataString(
        device: nvmlDevice_t,
        pgpuMetadata: *mut ::core::ffi::c_char,
        bufferSize: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuSchedulerLog(
        device: nvmlDevice_t,
        pSchedulerLog: *mut nvmlVgpuSchedulerLog_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuSchedulerState(
        device: nvmlDevice_t,
        pSchedulerState: *mut nvmlVgpuSchedulerGetState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetVgpuSchedulerState(
        device: nvmlDevice_t,
        pSchedulerState: *mut nvmlVgpuSchedulerSetState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuSchedulerCapabilities(
        device: nvmlDevice_t,
        pCapabilities: *mut nvmlVgpuSchedulerCapabilities_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGetVgpuVersion(
        supported: *mut nvmlVgpuVersion_t,
        current: *mut nvmlVgpuVersion_t,
    ) -> nvmlReturn_t;
    pub fn nvmlSetVgpuVersion(vgpuVersion: *mut nvmlVgpuVersion_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuUtilization(
        device: nvmlDevice_t,
        lastSeenTimeStamp: ::core::ffi::c_ulonglong,
        sampleValType: *mut nvmlValueType_t,
        vgpuInstanceSamplesCount: *mut ::core::ffi::c_uint,
        utilizationSamples: *mut nvmlVgpuInstanceUtilizationSample_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuInstancesUtilizationInfo(
        device: nvmlDevice_t,
        vgpuUtilInfo: *mut nvmlVgpuInstancesUtilizationInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuProcessUtilization(
        device: nvmlDevice_t,
        lastSeenTimeStamp: ::core::ffi::c_ulonglong,
        vgpuProcessSamplesCount: *mut ::core::ffi::c_uint,
        utilizationSamples: *mut nvmlVgpuProcessUtilizationSample_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetVgpuProcessesUtilizationInfo(
        device: nvmlDevice_t,
        vgpuProcUtilInfo: *mut nvmlVgpuProcessesUtilizationInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetAccountingMode(
        vgpuInstance: nvmlVgpuInstance_t,
        mode: *mut nvmlEnableState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetAccountingPids(
        vgpuInstance: nvmlVgpuInstance_t,
        count: *mut ::core::ffi::c_uint,
        pids: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetAccountingStats(
        vgpuInstance: nvmlVgpuInstance_t,
        pid: ::core::ffi::c_uint,
        stats: *mut nvmlAccountingStats_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceClearAccountingPids(
        vgpuInstance: nvmlVgpuInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetLicenseInfo_v2(
        vgpuInstance: nvmlVgpuInstance_t,
        licenseInfo: *mut nvmlVgpuLicenseInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGetExcludedDeviceCount(
        deviceCount: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGetExcludedDeviceInfoByIndex(
        index: ::core::ffi::c_uint,
        info: *mut nvmlExcludedDeviceInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceReadWritePRM_v1(
        device: nvmlDevice_t,
        buffer: *mut nvmlPRMTLV_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceReadPRMCounters_v1(
        device: nvmlDevice_t,
        counterList: *mut nvmlPRMCounterList_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetMigMode(
        device: nvmlDevice_t,
        mode: ::core::ffi::c_uint,
        activationStatus: *mut nvmlReturn_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMigMode(
        device: nvmlDevice_t,
        currentMode: *mut ::core::ffi::c_uint,
        pendingMode: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceProfileInfo(
        device: nvmlDevice_t,
        profile: ::core::ffi::c_uint,
        info: *mut nvmlGpuInstanceProfileInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceProfileInfoV(
        device: nvmlDevice_t,
        profile: ::core::ffi::c_uint,
        info: *mut nvmlGpuInstanceProfileInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceProfileInfoByIdV(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        info: *mut nvmlGpuInstanceProfileInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstancePossiblePlacements_v2(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        placements: *mut nvmlGpuInstancePlacement_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceRemainingCapacity(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceCreateGpuInstance(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        gpuInstance: *mut nvmlGpuInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceCreateGpuInstanceWithPlacement(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        placement: *const nvmlGpuInstancePlacement_t,
        gpuInstance: *mut nvmlGpuInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceDestroy(gpuInstance: nvmlGpuInstance_t) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstances(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        gpuInstances: *mut nvmlGpuInstance_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceById(
        device: nvmlDevice_t,
        id: ::core::ffi::c_uint,
        gpuInstance: *mut nvmlGpuInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetInfo(
        gpuInstance: nvmlGpuInstance_t,
        info: *mut nvmlGpuInstanceInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstanceProfileInfo(
        gpuInstance: nvmlGpuInstance_t,
        profile: ::core::ffi::c_uint,
        engProfile: ::core::ffi::c_uint,
        info: *mut nvmlComputeInstanceProfileInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstanceProfileInfoV(
        gpuInstance: nvmlGpuInstance_t,
        profile: ::core::ffi::c_uint,
        engProfile: ::core::ffi::c_uint,
        info: *mut nvmlComputeInstanceProfileInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
        gpuInstance: nvmlGpuInstance_t,
        profileId: ::core::ffi::c_uint,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstancePossiblePlacements(
        gpuInstance: nvmlGpuInstance_t,
        profileId: ::core::ffi::c_uint,
        placements: *mut nvmlComputeInstancePlacement_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceCreateComputeInstance(
        gpuInstance: nvmlGpuInstance_t,
        profileId: ::core::ffi::c_uint,
        computeInstance: *mut nvmlComputeInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceCreateComputeInstanceWithPlacement(
        gpuInstance: nvmlGpuInstance_t,
        profileId: ::core::ffi::c_uint,
        placement: *const nvmlComputeInstancePlacement_t,
        computeInstance: *mut nvmlComputeInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlComputeInstanceDestroy(
        computeInstance: nvmlComputeInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstances(
        gpuInstance: nvmlGpuInstance_t,
        profileId: ::core::ffi::c_uint,
        computeInstances: *mut nvmlComputeInstance_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGpuInstanceGetComputeInstanceById(
        gpuInstance: nvmlGpuInstance_t,
        id: ::core::ffi::c_uint,
        computeInstance: *mut nvmlComputeInstance_t,
    ) -> nvmlReturn_t;
    pub fn nvmlComputeInstanceGetInfo_v2(
        computeInstance: nvmlComputeInstance_t,
        info: *mut nvmlComputeInstanceInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceIsMigDeviceHandle(
        device: nvmlDevice_t,
        isMigDevice: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstanceId(
        device: nvmlDevice_t,
        id: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetComputeInstanceId(
        device: nvmlDevice_t,
        id: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMaxMigDeviceCount(
        device: nvmlDevice_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMigDeviceHandleByIndex(
        device: nvmlDevice_t,
        index: ::core::ffi::c_uint,
        migDevice: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
        migDevice: nvmlDevice_t,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpmMetricsGet(metricsGet: *mut nvmlGpmMetricsGet_t) -> nvmlReturn_t;
    pub fn nvmlGpmSampleFree(gpmSample: nvmlGpmSample_t) -> nvmlReturn_t;
    pub fn nvmlGpmSampleAlloc(gpmSample: *mut nvmlGpmSample_t) -> nvmlReturn_t;
    pub fn nvmlGpmSampleGet(
        device: nvmlDevice_t,
        gpmSample: nvmlGpmSample_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpmMigSampleGet(
        device: nvmlDevice_t,
        gpuInstanceId: ::core::ffi::c_uint,
        gpmSample: nvmlGpmSample_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpmQueryDeviceSupport(
        device: nvmlDevice_t,
        gpmSupport: *mut nvmlGpmSupport_t,
    ) -> nvmlReturn_t;
    pub fn nvmlGpmQueryIfStreamingEnabled(
        device: nvmlDevice_t,
        state: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlGpmSetStreamingEnabled(
        device: nvmlDevice_t,
        state: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetCapabilities(
        device: nvmlDevice_t,
        caps: *mut nvmlDeviceCapabilities_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
        device: nvmlDevice_t,
        profilesInfo: *mut nvmlWorkloadPowerProfileProfilesInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
        device: nvmlDevice_t,
        currentProfiles: *mut nvmlWorkloadPowerProfileCurrentProfiles_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(
        device: nvmlDevice_t,
        requestedProfiles: *mut nvmlWorkloadPowerProfileRequestedProfiles_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(
        device: nvmlDevice_t,
        requestedProfiles: *mut nvmlWorkloadPowerProfileRequestedProfiles_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1(
        device: nvmlDevice_t,
        updateProfiles: *mut nvmlWorkloadPowerProfileUpdateProfiles_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDevicePowerSmoothingActivatePresetProfile(
        device: nvmlDevice_t,
        profile: *mut nvmlPowerSmoothingProfile_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDevicePowerSmoothingUpdatePresetProfileParam(
        device: nvmlDevice_t,
        profile: *mut nvmlPowerSmoothingProfile_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDevicePowerSmoothingSetState(
        device: nvmlDevice_t,
        state: *mut nvmlPowerSmoothingState_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
        device: nvmlDevice_t,
        errorCounts: *mut nvmlEccSramUniqueUncorrectedErrorCounts_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetRemappedRows_v2(
        device: nvmlDevice_t,
        info: *mut nvmlRemappedRowsInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceSetRusdSettings_v1(
        device: nvmlDevice_t,
        settings: *mut nvmlRusdSettings_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetBankRemapperStatus_v1(
        device: nvmlDevice_t,
        pBankRemapperStatus: *mut nvmlEccBankRemapperStatus_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlInit() -> nvmlReturn_t;
    pub fn nvmlDeviceGetCount(deviceCount: *mut ::core::ffi::c_uint) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByIndex(
        index: ::core::ffi::c_uint,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetHandleByPciBusId(
        pciBusId: *const ::core::ffi::c_char,
        device: *mut nvmlDevice_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPciInfo(
        device: nvmlDevice_t,
        pci: *mut nvmlPciInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetPciInfo_v2(
        device: nvmlDevice_t,
        pci: *mut nvmlPciInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetNvLinkRemotePciInfo(
        device: nvmlDevice_t,
        link: ::core::ffi::c_uint,
        pci: *mut nvmlPciInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGridLicensableFeatures(
        device: nvmlDevice_t,
        pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGridLicensableFeatures_v2(
        device: nvmlDevice_t,
        pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGridLicensableFeatures_v3(
        device: nvmlDevice_t,
        pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceRemoveGpu(pciInfo: *mut nvmlPciInfo_t) -> nvmlReturn_t;
    pub fn nvmlEventSetWait(
        set: nvmlEventSet_t,
        data: *mut nvmlEventData_t,
        timeoutms: ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetAttributes(
        device: nvmlDevice_t,
        attributes: *mut nvmlDeviceAttributes_t,
    ) -> nvmlReturn_t;
    pub fn nvmlComputeInstanceGetInfo(
        computeInstance: nvmlComputeInstance_t,
        info: *mut nvmlComputeInstanceInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetComputeRunningProcesses(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetComputeRunningProcesses_v2(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGraphicsRunningProcesses(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGraphicsRunningProcesses_v2(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMPSComputeRunningProcesses(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v1_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetMPSComputeRunningProcesses_v2(
        device: nvmlDevice_t,
        infoCount: *mut ::core::ffi::c_uint,
        infos: *mut nvmlProcessInfo_v2_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetGpuInstancePossiblePlacements(
        device: nvmlDevice_t,
        profileId: ::core::ffi::c_uint,
        placements: *mut nvmlGpuInstancePlacement_t,
        count: *mut ::core::ffi::c_uint,
    ) -> nvmlReturn_t;
    pub fn nvmlVgpuInstanceGetLicenseInfo(
        vgpuInstance: nvmlVgpuInstance_t,
        licenseInfo: *mut nvmlVgpuLicenseInfo_t,
    ) -> nvmlReturn_t;
    pub fn nvmlDeviceGetDriverModel(
        device: nvmlDevice_t,
        current: *mut nvmlDriverModel_t,
        pending: *mut nvmlDriverModel_t,
    ) -> nvmlReturn_t;
}
