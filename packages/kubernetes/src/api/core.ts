import type { Condition, KubeObject, ObjectMeta } from './kube-object.ts'
import type { LabelSelector } from './label-selector.ts'

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  readonly timeAdded?: string
}

export interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: Taint['effect']
  readonly tolerationSeconds?: number
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean
    readonly taints?: readonly Taint[]
    readonly providerID?: string
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatable?: Readonly<Record<string, string>>
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly nodeInfo?: {
      readonly bootID: string
      readonly machineID: string
      readonly systemUUID: string
      readonly kernelVersion: string
      readonly osImage: string
      readonly containerRuntimeVersion: string
      readonly kubeletVersion: string
      readonly kubeProxyVersion: string
      readonly operatingSystem: string
      readonly architecture: string
    }
  }
}

export interface Container {
  readonly name: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  readonly env?: readonly EnvVar[]
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string; readonly optional?: boolean }
  }[]
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>
    readonly limits?: Readonly<Record<string, string>>
  }
  readonly volumeMounts?: readonly VolumeMount[]
  /** Raw block devices of claims. */
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath: string }[]
  readonly securityContext?: {
    readonly privileged?: boolean
    readonly runAsUser?: number
    readonly runAsNonRoot?: boolean
    readonly readOnlyRootFilesystem?: boolean
  }
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string }
    readonly configMapKeyRef?: { readonly name: string; readonly key: string }
    readonly fieldRef?: { readonly fieldPath: string }
    readonly resourceFieldRef?: { readonly resource: string }
  }
}

export interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly?: boolean
}

export interface Probe {
  readonly httpGet?: object
  readonly grpc?: object
  readonly exec?: { readonly command: readonly string[] }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
}

export interface Volume {
  readonly name: string
  readonly emptyDir?: object
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly hostPath?: { readonly path: string; readonly type?: string }
  readonly secret?: { readonly secretName: string; readonly items?: readonly KeyToPath[] }
  readonly configMap?: { readonly name: string; readonly items?: readonly KeyToPath[] }
}

interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
    readonly values?: readonly string[]
  }[]
  readonly matchFields?: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn'
    readonly values?: readonly string[]
  }[]
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector
  readonly namespaces?: readonly string[]
  readonly topologyKey: string
}

export interface PodSpec {
  readonly nodeName?: string
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
      }
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly weight: number
        readonly preference: NodeSelectorTerm
      }[]
    }
    readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] }
    readonly podAntiAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly weight: number
        readonly podAffinityTerm: PodAffinityTerm
      }[]
    }
  }
  readonly topologySpreadConstraints?: readonly {
    readonly maxSkew: number
    readonly topologyKey: string
    readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'
    readonly labelSelector?: LabelSelector
  }[]
  readonly tolerations?: readonly Toleration[]
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  /** Who is to be asked before the pod is evicted, in this order; where the server knows EvictionRequests. */
  readonly evictionResponders?: readonly { readonly name: string }[]
  readonly terminationGracePeriodSeconds?: number
  readonly priority?: number
  readonly priorityClassName?: string
  readonly serviceAccountName?: string
  readonly hostname?: string
  readonly subdomain?: string
  readonly hostNetwork?: boolean
  readonly hostIPC?: boolean
  readonly dnsPolicy?: string
  readonly volumes?: readonly Volume[]
}

export interface ContainerStatus {
  readonly name: string
  readonly ready: boolean
  readonly started?: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
  readonly state?: {
    readonly running?: { readonly startedAt?: string }
    readonly waiting?: { readonly reason?: string }
    readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly finishedAt?: string }
  }
  /** How the start before this one ended. */
  readonly lastState?: ContainerStatus['state']
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'

export interface Pod extends KubeObject {
  readonly spec: PodSpec
  readonly status?: {
    readonly phase?: PodPhase
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly startTime?: string
    readonly podIP?: string
    readonly hostIP?: string
    readonly qosClass?: string
  }
}

export interface PodTemplateSpec {
  readonly metadata?: Partial<ObjectMeta>
  readonly spec: PodSpec
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: 'Active' | 'Terminating'; readonly conditions?: readonly Condition[] }
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

export interface Event extends KubeObject {
  readonly involvedObject: ObjectReference
  readonly reason?: string
  readonly message?: string
  readonly type?: 'Normal' | 'Warning'
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
  readonly eventTime?: string | null
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly reportingComponent?: string
  readonly reportingInstance?: string
  readonly action?: string
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}
