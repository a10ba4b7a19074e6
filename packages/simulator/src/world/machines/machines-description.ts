import type { MachineApi } from './machine-kinds.ts'

export interface MachinesDescription {
  /** Default `openshift`. */
  readonly api?: MachineApi
  /** Version of Cluster API; default the newest. */
  readonly version?: string
  /** Default: where the API keeps its machines. */
  readonly namespace?: string
  /** Cluster API. Default `cluster`. */
  readonly clusterName?: string
  readonly sets: readonly MachineSetDescription[]
  readonly timings?: Partial<MachineTimings>
  /** Machines that are deleted are drained first. Default: they are not, since those of dead nodes cannot be. */
  readonly drain?: MachineDrain
}

export interface MachineDrain {
  /** The machine goes when its drain has lasted so long, whatever is left on it. Default: never. */
  readonly timeoutSeconds?: number
}

export interface MachineSetDescription {
  readonly name: string
  /** Nodes that its machines are behind from the beginning: `<set>-1` is behind the first. */
  readonly nodes: readonly string[]
  /**
   * What becomes of the disks of a machine that is replaced. `follow`: they are volumes of a cloud, and the OSDs on them start
   * on the replacement. `lost`: they were in the machine, and the OSDs never come back.
   */
  readonly volumes: 'follow' | 'lost'
  /** On its Machines. */
  readonly labels?: Readonly<Record<string, string>>
}

export interface MachineTimings {
  /** From a new Machine to its Node. */
  readonly provisionSeconds: number
  /** From cut power to a Node and a Machine that are gone. */
  readonly terminateSeconds: number
  /** How long a machine is down when its power is cycled. */
  readonly rebootSeconds: number
}

export const defaultMachineTimings: MachineTimings = {
  provisionSeconds: 180,
  terminateSeconds: 30,
  rebootSeconds: 120,
}
