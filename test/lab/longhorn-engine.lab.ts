import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { longhornNamespace, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { errorText } from '@cofferdam/product/operator/log.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copiesAtRisk } from './longhorn/copies-at-risk.ts'
import { EngineProcesses, WrittenBytes } from './longhorn/engine-processes.ts'
import { followDrain } from './longhorn/follow-drain.ts'
import { type LonghornLab, openLonghornLab, workloadOn } from './longhorn-lab.ts'
import { findLonghorn } from './parts/find-longhorn.ts'
import { findLonghornEngine } from './parts/find-longhorn-engine.ts'
import { type Journal, openJournal } from './processes/journal.ts'
import { type LabFolder, openLabFolder } from './processes/lab-folder.ts'

const mebibyte = 1024 ** 2
const volumeBytes = 64 * mebibyte
const volume = 'single'
const nodeNames = ['node-a', 'node-b', 'node-c']
const volumes = [{ name: volume, numberOfReplicas: 1, placedOn: ['node-a'], filled: 1, sizeBytes: volumeBytes }]
const timings = { attachMs: 300, detachMs: 300, resyncMs: 2_000, rebuildBytesPerSecond: 256 * mebibyte }
const setting = 'settings.longhorn.io/node-drain-policy'

const parts = await findLonghornEngine((line) => console.error(line))

describe.skipIf(parts === undefined)("a volume of one copy behind which Longhorn's own engine stands", () => {
  const written = new WrittenBytes(volumeBytes)
  let lab: LonghornLab
  beforeAll(async () => {
    if (parts === undefined) return
    const brain = await findLonghorn((line) => console.error(line))
    const engine = { parts, volumeBytes }
    lab = await openLonghornLab('longhorn-engine', { nodeNames, brain, engine, longhorn: { volumes, timings } })
    await placeWorkload('node-b')
    await lab.installOperator()
    const wanted = 'cofferdam.io/wanted-policy=block-for-eviction-if-contains-last-replica'
    await lab.kubectl('-n', longhornNamespace, 'annotate', setting, wanted)
    await fill(0, volumeBytes)
  })
  afterAll(() => lab?.close())

  it('as hold: it moves off a node that kubectl drains while a client writes, and every byte is there', async () => {
    lab.chapter('hold: the copy moves')
    await manage('hold')
    const processes = lab.processes()
    const node = await nodeOfCopy()
    const old = { replica: await copy(), node }
    const pid = processes.pidOf(old.replica)
    const directory = processes.directoryOf(old)
    expect([existsSync(`/proc/${pid}`), existsSync(directory)]).toEqual([true, true])

    const drained = await followDrain(lab, node)
    let writes = 0
    let during = 0
    while (drained.drain.isRunning()) {
      const isHalfMade = [...(await processes.modes(volume)).values()].includes('WO')
      await fill(Math.floor(Math.random() * 255) * (volumeBytes / 256), volumeBytes / 256)
      writes += 1
      if (isHalfMade) during += 1
      await pause(100)
    }
    lab.chapter(`hold: ${writes} writes, ${during} of them while the new copy was half made`)
    expect((await drained.drain.ended).code).toBe(0)
    await drained.stop()
    await processes.settled()

    const now = await copy()
    expect(now).not.toBe(old.replica)
    expect(await nodeOfCopy()).not.toBe(node)
    // On a busy machine the drain may stop it before Longhorn has deleted it: the other copy is whole by then, either way.
    expect(new Set(processes.ends.map(({ replica }) => replica))).toEqual(new Set([old.replica]))
    expect(processes.ends.every(({ whole }) => whole.includes(now))).toBe(true)
    expect(copiesAtRisk(processes.ends)).toEqual([])
    expect([existsSync(`/proc/${pid}`), existsSync(directory)]).toEqual([false, false])
    expect(during).toBeGreaterThan(0)
    expect(await processes.checksum(volume)).toBe(written.checksum())
    await uncordon(node)
  })

  it('as guide: it moves together with the workload that uses it, and every byte is there', async () => {
    lab.chapter('guide: the copy and the workload move')
    await manage('guide')
    const processes = lab.processes()
    const node = await nodeOfCopy()
    const old = await copy()
    await placeWorkload(node)
    await fill(0, mebibyte)
    const drained = await followDrain(lab, node)
    expect((await drained.drain.ended).code).toBe(0)
    await drained.stop()
    await processes.settled()
    expect(await attachedTo()).not.toBe(node)
    expect(await nodeOfCopy()).not.toBe(node)
    expect(await copy()).not.toBe(old)
    expect(copiesAtRisk(processes.ends)).toEqual([])
    expect(await processes.checksum(volume)).toBe(written.checksum())
    await uncordon(node)
  })

  it('a drain that deletes pods and asks nobody stops the only copy, the judge says so, and nothing can be read until it is back', async () => {
    lab.chapter('nobody is asked')
    const processes = lab.processes()
    const node = await nodeOfCopy()
    const only = await copy()
    if ((await attachedTo()) === node) await placeWorkload(nodeNames.find((name) => name !== node) ?? '')
    const ways = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--disable-eviction']
    await lab.kubectl('drain', node, ...ways)
    await lab.until('the engine is gone', async () => !processes.isEngineRunning(volume))
    expect(copiesAtRisk(processes.ends).map(({ what, replica }) => [what, replica])).toEqual([['stopped', only]])
    await expect(processes.checksum(volume)).rejects.toThrow('no engine')
    await uncordon(node)
    await isReady()
    expect(await processes.checksum(volume)).toBe(written.checksum())
  })

  it('nothing that was told to the processes went wrong', () => {
    expect(lab.processes().faults).toEqual([])
  })

  /** Random bytes, through the engine. */
  async function fill(offset: number, count: number): Promise<void> {
    await lab.processes().write(volume, offset, written.draw(offset, count))
  }

  async function manage(mode: 'guide' | 'hold'): Promise<void> {
    await lab.kubectl('-n', longhornNamespace, 'annotate', '--overwrite', setting, `cofferdam.io/manage=${mode}`)
  }

  async function placeWorkload(node: string): Promise<void> {
    const isElsewhere = ![node, '', undefined].includes(await attachedTo())
    await lab.kubectlWith(workloadOn(node, volume), 'apply', '-f', '-')
    if (isElsewhere) await lab.kubectl('rollout', 'restart', `deployment/${volume}`)
    await lab.until(`the volume is attached to ${node}`, async () => (await attachedTo()) === node)
    await isReady()
  }

  async function isReady(): Promise<void> {
    await lab.until('the volume is healthy', () => lab.isHealthy(volume))
    await lab.until('its engine runs', async () => lab.processes().isEngineRunning(volume))
    await lab.processes().settled()
  }

  async function attachedTo(): Promise<string | undefined> {
    const { status } = await lab.api.get(longhornVolumes, { namespace: longhornNamespace, name: volume })
    return status?.currentNodeID
  }

  async function nodeOfCopy(): Promise<string> {
    const [node = ''] = await lab.wholeCopies(volume)
    return node
  }

  /** The one that the engine itself uses. */
  async function copy(): Promise<string> {
    const modes = [...(await lab.processes().modes(volume))]
    expect(modes.map(([, mode]) => mode)).toEqual(['RW'])
    return modes[0]?.[0] ?? ''
  }

  async function uncordon(node: string): Promise<void> {
    await lab.kubectl('uncordon', node)
  }
})

describe.skipIf(parts === undefined)('what is judged by checksums is not always found good', () => {
  const old = { replica: 'old', node: 'node-a' }
  const fresh = { replica: 'new', node: 'node-b' }
  let folder: LabFolder
  let journal: Journal
  let processes: EngineProcesses
  let written: WrittenBytes
  beforeAll(async () => {
    if (parts === undefined) return
    folder = await openLabFolder('longhorn-engine-judge')
    journal = openJournal(join(folder.logs, 'journal.log'))
    processes = new EngineProcesses({ parts, folder, journal, volumeBytes })
    written = new WrittenBytes(volumeBytes)
    processes.startEngine(volume, [old])
    await processes.settled()
    await processes.write(volume, 0, written.draw(0, volumeBytes))
  })
  afterAll(async () => {
    await processes?.close()
    await folder?.remove()
  })

  it('one byte on the disk is another', async () => {
    expect(await processes.checksum(volume)).toBe(written.checksum())
    await stopAll()
    const file = await open(join(processes.directoryOf(old), 'volume-head-000.img'), 'r+')
    const place = volumeBytes / 2
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, place)
    const flip = () => file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, place)
    await flip()
    await start()
    expect(await processes.checksum(volume)).not.toBe(written.checksum())
    await stopAll()
    await file.write(buffer, 0, 1, place)
    await file.close()
    await start()
    expect(await processes.checksum(volume)).toBe(written.checksum())
  })

  it('the old copy is stopped before the new one is whole: nothing can be read, and the new one is no copy', async () => {
    const rebuilt = processes.rebuild(volume, fresh)
    const failed = expect(rebuilt).rejects.toThrow()
    while ((await processes.modes(volume)).get(fresh.replica) !== 'WO') await pause(100)
    processes.stopReplica(old.replica)
    await processes.settled()
    await expect(processes.checksum(volume)).rejects.toThrow()
    expect(copiesAtRisk(processes.ends)).toEqual([
      { what: 'stopped', replica: old.replica, isEngineRunning: true, whole: [old.replica] },
    ])
    await stopAll()
    await failed
    processes.startEngine(volume, [fresh])
    await processes.settled()
    const found = await processes.checksum(volume).catch((error: unknown) => `unreadable: ${errorText(error)}`)
    journal.tell('story', `the half made copy alone: ${found}`)
    expect(found).not.toBe(written.checksum())
  })

  async function start(): Promise<void> {
    processes.startEngine(volume, [old])
    await processes.settled()
  }

  async function stopAll(): Promise<void> {
    processes.stopEngine(volume)
    for (const { replica } of [old, fresh]) processes.stopReplica(replica)
    await processes.settled()
  }
})
