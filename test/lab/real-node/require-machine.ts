import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run } from '../../../image/parts/run.ts'

const ownMachine = fileURLToPath(new URL('./own-machine.sh', import.meta.url))

/** Fails closed: where a node cannot be real, the run ends with the reason, and no suite is skipped in silence. */
export async function requireMachine(): Promise<void> {
  const refuse = (why: string) => {
    throw new Error(`this machine cannot be a real node: ${why}`)
  }
  if (process.getuid?.() !== 0) refuse('a kubelet and containers need root')
  if (!existsSync('/sys/fs/cgroup')) refuse('no cgroups are mounted at /sys/fs/cgroup')
  const entering = run('sh', [ownMachine, 'true'])
  await entering.catch((error: Error) => refuse(`it gives no namespaces of their own: ${error.message}`))
}
