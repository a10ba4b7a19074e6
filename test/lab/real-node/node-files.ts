/** Where one node keeps everything: nothing of it is outside of its folder. */
export interface NodePlaces {
  readonly folder: string
  readonly socket: string
  readonly networkPlugins: string
}

export const pauseImage = 'localhost/pause:lab'

/** What containerd reads. */
export function containerdConfig({ folder, socket, networkPlugins }: NodePlaces): string {
  const runtime = `plugins."io.containerd.cri.v1.runtime"`
  return `version = 3
root = "${folder}/containerd"
state = "${folder}/containerd-state"
disabled_plugins = ["io.containerd.nri.v1.nri"]

[grpc]
address = "${socket}"

[${runtime}]
# A container may not be guarded better against the end of memory than containerd is: without CAP_SYS_RESOURCE the kernel refuses that.
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true

[${runtime}.cni]
bin_dirs = ["${networkPlugins}"]
conf_dir = "${folder}/network"

[${runtime}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "${pauseImage}"
`
}

/** How pods of a node are connected: to a bridge of the node, which knows the way to all others. */
export function networkConfig({ folder }: NodePlaces, bridge: string, subnet: string): object {
  return {
    cniVersion: '1.0.0',
    name: bridge,
    plugins: [
      {
        type: 'bridge',
        bridge,
        isGateway: true,
        ipam: {
          type: 'host-local',
          dataDir: `${folder}/addresses`,
          ranges: [[{ subnet }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  }
}

export interface KubeletSettings {
  readonly port: number
  readonly healthPort: number
  readonly cgroup: string
}

/** What a kubelet reads. All else is as it comes. */
export function kubeletConfig({ folder, socket }: NodePlaces, { port, healthPort, cgroup }: KubeletSettings): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    port,
    healthzPort: healthPort,
    // The network has no other member.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    podLogsDir: `${folder}/logs`,
    // No server of names answers there; without an address each pod would get a warning.
    clusterDNS: ['10.0.0.10'],
    resolvConf: '',
    // Whatever else the machine does must evict no pod of a story.
    evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
  }
}
