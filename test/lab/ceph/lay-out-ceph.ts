import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CephDescription } from '@cofferdam/simulator/world/ceph/ceph-description.ts'
import { buildCrushTree, type CrushTree } from '@cofferdam/simulator/world/ceph/crush-tree.ts'
import type { CephParts } from '../parts/parts.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { cephConf } from './ceph-conf.ts'
import { crushText } from './crush-text.ts'
import { adminCaps, createUser, keyringText, mgrCaps, monCaps, operatorCaps, osdCaps } from './keyring.ts'
import { writeManagerModules } from './manager-modules.ts'

export interface CephOptions {
  readonly parts: CephParts
  readonly description: CephDescription
  readonly mgrs?: readonly string[]
  readonly folder: LabFolder
  readonly journal: Journal
}

/** Where everything of one Ceph is, and what it is made of. */
export interface CephLayout {
  readonly path: string
  readonly conf: string
  readonly keyring: string
  readonly monmap: string
  readonly fsid: string
  readonly mons: readonly { readonly name: string; readonly port: number }[]
  readonly mgrs: readonly string[]
  readonly tree: CrushTree
  readonly uuids: ReadonlyMap<number, string>
}

/** Writes every file that is there before the first program runs. */
export async function layOutCeph({ description, mgrs = ['a'], folder, parts }: CephOptions): Promise<CephLayout> {
  const names = description.mons ?? ['a']
  // Mons are ranked by their addresses, and the first is to lead.
  const ports = (await freePorts(names.length)).sort((left, right) => left - right)
  const tree = buildCrushTree(description.crush, description.pools)
  const path = join(resolve(folder.path), 'ceph')
  const layout: CephLayout = {
    path,
    conf: join(path, 'ceph.conf'),
    keyring: join(path, 'keyring'),
    monmap: join(path, 'monmap'),
    fsid: description.fsid ?? randomUUID(),
    mons: names.map((name, index) => ({ name, port: ports[index] as number })),
    mgrs,
    tree,
    uuids: new Map(tree.osdIds.map((id) => [id, randomUUID()])),
  }
  const data = [
    ...names.map((name) => `mon.${name}`),
    ...mgrs.map((name) => `mgr.${name}`),
    ...tree.osdIds.map((id) => `osd.${id}`),
  ]
  await Promise.all(['run', 'crash', ...data].map((name) => mkdir(join(path, name), { recursive: true })))
  const admin = createUser('client.admin', adminCaps)
  const operator = createUser('client.cofferdam', operatorCaps)
  const users = [
    createUser('mon.', monCaps),
    admin,
    operator,
    ...mgrs.map((name) => createUser(`mgr.${name}`, mgrCaps)),
    ...tree.osdIds.map((id) => createUser(`osd.${id}`, osdCaps)),
  ]
  const { fsid, keyring, mons } = layout
  await Promise.all([
    writeFile(layout.conf, cephConf({ fsid, folder: path, keyring, mons, description })),
    writeFile(keyring, keyringText(users)),
    writeFile(join(path, 'admin.keyring'), keyringText([admin])),
    writeFile(join(path, 'operator.keyring'), keyringText([operator])),
    writeFile(join(path, 'crush.txt'), crushText(tree)),
    writeManagerModules(parts, join(path, 'modules')),
  ])
  return layout
}
