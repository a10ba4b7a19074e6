import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../../../image/parts/run.ts'
import type { NodeParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { makeCgroup } from './cgroups.ts'
import type { ImageArchive } from './import-images.ts'
import { containerdConfig, kubeletConfig, networkConfig } from './node-files.ts'

export interface RealNodeOptions {
  readonly name: string
  /** Its address on the network of the lab, and the addresses of its pods. */
  readonly address: string
  readonly podSubnet: string
  /** As whom its kubelet speaks to the API server. */
  readonly kubeconfig: string
  readonly images: readonly ImageArchive[]
  readonly parts: NodeParts
  readonly folder: LabFolder
  readonly journal: Journal
  /** Process outside of the namespaces that ends with the run. */
  readonly owner: number
}

/** A kubelet and a containerd. */
export interface RealNode {
  readonly name: string
  readonly kubelet: Daemon
  /** Process ids of what runs in its containers. */
  tasks(): Promise<readonly number[]>
  stop(): Promise<void>
}

/** Resolves when containerd has all images and the kubelet was started; the Node is Ready some time after. */
export async function startRealNode(options: RealNodeOptions): Promise<RealNode> {
  const { name, address, podSubnet, kubeconfig, images, parts, journal, owner } = options
  const folder = join(options.folder.path, name)
  const socket = join(folder, 'containerd.sock')
  const places = { folder, socket, networkPlugins: parts.networkPlugins }
  const write = async (file: string, content: string | object) => {
    const path = join(folder, file)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  await mkdir(join(folder, 'network'), { recursive: true })
  await write('network/10-lab.conflist', networkConfig(places, `pods-${name}`, podSubnet))
  const start = (program: string, ...command: readonly [string, ...string[]]): Daemon =>
    startDaemon({
      name: `${program} ${name}`,
      command,
      environment: { PATH: `${parts.programFolder}:${process.env['PATH']}` },
      logFile: join(resolve(options.folder.logs), `${program}-${name}.log`),
      journal,
    })
  const config = await write('containerd.toml', containerdConfig(places))
  const containerd = start('containerd', parts.containerd, '--config', config)
  const ctr = (...args: readonly string[]) => run(parts.ctr, ['--address', socket, '--namespace', 'k8s.io', ...args])
  await untilAnswers(containerd, () => ctr('version'))
  for (const { file, name: image } of images) await ctr('images', 'import', '--base-name', image, file)
  journal.tell(name, `has its ${images.length} images`)
  const [port = 0, healthPort = 0] = await freePorts(2)
  const settings = { port, healthPort, cgroup: await makeCgroup(owner, name) }
  const flags = {
    config: await write('kubelet.json', kubeletConfig(places, settings)),
    kubeconfig,
    'root-dir': join(folder, 'kubelet'),
    'cert-dir': join(folder, 'pki'),
    'hostname-override': name,
    'node-ip': address,
  }
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  const kubelet = start('kubelet', parts.kubelet, ...words)
  return {
    name,
    kubelet,
    async tasks() {
      const [, ...lines] = (await ctr('tasks', 'ls')).trim().split('\n')
      return lines.map((line) => Number(line.trim().split(/\s+/)[1]))
    },
    async stop() {
      await kubelet.stop()
      await containerd.stop()
    },
  }
}

async function untilAnswers(daemon: Daemon, ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    if (!daemon.isRunning()) throw new Error(`${daemon.name} ended before it answered, see ${daemon.logFile}`)
    try {
      await ask()
      return
    } catch {
      await pause(100)
    }
  }
}
