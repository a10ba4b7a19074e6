/** Programs of a real Kubernetes, by their absolute paths. */
export interface KubernetesParts {
  readonly version: string
  readonly etcd: string
  readonly kubeApiserver: string
  readonly kubeControllerManager: string
  readonly kubeScheduler: string
  readonly kubectl: string
}

export type CephRelease = '16' | '18' | '20'

/** Programs of a real Ceph. */
export interface CephParts {
  readonly release: CephRelease
  /** As the programs say: `16.2.15`. */
  readonly version: string
  /** How a program of this release is called; one that was not installed but unpacked is entered through its own root. */
  command(program: string, ...args: readonly string[]): readonly [string, ...string[]]
  /** Where this release keeps the Python modules of its manager, as seen from outside its root. */
  readonly managerModules: string
}

/** Programs that run Rook's own code. */
export interface RookParts {
  readonly version: string
  /** Its disruption controller. */
  readonly disruption: string
  /** The part of its cluster controller that creates and updates OSDs. */
  readonly osdLoop: string
}

/** Programs that run Longhorn's own code, and its kinds. */
export interface LonghornParts {
  readonly version: string
  /** Answers what Longhorn decides about drains in a given state. */
  readonly oracle: string
  /** Its drain handling on a live API server. */
  readonly brain: string
  /** A file with all its CustomResourceDefinitions. */
  readonly definitions: string
}

/** Longhorn's engine. */
export interface LonghornEngineParts {
  readonly version: string
  /** Its one program: controllers, replicas, and commands to them. */
  readonly engine: string
  /** Reads and writes a volume through the socket of its controller. */
  readonly io: string
}

/** What installs charts, and what judges alert rules. */
export interface HelmParts {
  readonly version: string
  readonly helm: string
  readonly promtool: string
}

/** What makes a machine a node, by absolute paths. */
export interface NodeParts {
  readonly containerdVersion: string
  readonly kubelet: string
  readonly kubeProxy: string
  readonly containerd: string
  /** containerd's own command. */
  readonly ctr: string
  /** The one program of the image that every pod begins with. */
  readonly pause: string
  /** To be put into the PATH of containerd. */
  readonly programFolder: string
  /** Where the plugins are that connect pods. */
  readonly networkPlugins: string
}

/** Tells what is fetched or built, and for how long; set-up may take minutes. */
export type Say = (line: string) => void
