import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runKubectl } from './control-plane/run-kubectl.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { type UnpackedImage, unpackImage } from './image/unpack-image.ts'
import { findEmulator } from './parts/find-emulator.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { startDaemon } from './processes/daemon.ts'
import { freePorts } from './processes/free-port.ts'
import { openJournal } from './processes/journal.ts'
import { openLabFolder } from './processes/lab-folder.ts'

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
const say = (line: string) => console.error(line)

let folder: string
let image: UnpackedImage
let withCeph: UnpackedImage
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lab-arm64-'))
  const layout = join(folder, 'oci')
  await run(process.execPath, ['scripts/image.mjs', '--arch', 'arm64', '--out', layout])
  image = await emulated(await unpackImage(layout, version, join(folder, 'root')))
  withCeph = await emulated(await unpackImage(layout, `${version}-ceph`, join(folder, 'root-ceph')))
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The same image with every program of it called through the emulator; on arm64 itself there is no need for one. */
async function emulated(unpacked: UnpackedImage): Promise<UnpackedImage> {
  if (process.arch === 'arm64') return unpacked
  await copyFile(await findEmulator(say), join(unpacked.root, 'emulator'))
  const command: UnpackedImage['command'] = (...program) =>
    unpacked.command('/emulator', ...(program.length === 0 ? unpacked.entrypoint : program))
  return { ...unpacked, command }
}

async function call([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  return (await run(program, args)).stdout.trim()
}

it('its programs are for arm64 and run: the command, Node.js, and the client of Ceph with its libraries', async () => {
  expect(await call(image.command('/usr/bin/node', '-p', 'process.arch'))).toBe('arm64')
  expect(await call([...image.command(), '--version'])).toBe(version)
  expect(await call([...image.command(), 'operator', '--help'])).toContain('Usage: cofferdam operator')
  const client = withCeph.command('/usr/bin/python3', '-c', 'import rados; print(rados.Rados(conf={}).version())')
  expect(await call(client)).toMatch(/^\d/)
})

it('the operator leads on a real API server: it reads and writes there over TLS, as on any other machine', async () => {
  const lab = await openLabFolder('image-arm64')
  const journal = openJournal(join(lab.logs, 'journal.log'))
  const plane = await startControlPlane({ parts: await findKubernetes(say), folder: lab, journal })
  try {
    const { code, stderr } = await runKubectl(plane, ['apply', '-f', 'deploy/crds', '-f', 'deploy/access.yaml'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [health, guard] = await freePorts(2)
    const kubeconfig = await plane.kubeconfigOf(operatorAccount)
    const moved = ['--kubeconfig', kubeconfig, '--health-port', String(health), '--guard-port', String(guard)]
    const logFile = join(lab.logs, 'operator.log')
    const command = [...image.command(), 'operator', ...moved] as const
    const operator = startDaemon({ name: 'operator', command, logFile, journal })
    // By emulation it may be too slow to keep what it holds, and ends itself then: that it leads is all that is asked of it here.
    const leads = () => readFileSync(logFile, 'utf8').includes('the leader changed')
    await expect.poll(leads, { timeout: 180_000, interval: 500 }).toBe(true)
    const lease = await runKubectl(plane, ['get', 'leases', '-n', operatorAccount.namespace, '-o', 'name'])
    expect(lease.stdout).toContain('cofferdam')
    await operator.stop()
  } finally {
    await plane.close()
    await lab.remove()
  }
})
