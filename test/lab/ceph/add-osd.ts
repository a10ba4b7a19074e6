import { randomUUID } from 'node:crypto'
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { CephParts } from '../parts/parts.ts'
import { obey } from './create-pools.ts'
import { osdCaps } from './keyring.ts'
import type { CephLayout } from './lay-out-ceph.ts'
import { makeOsd } from './make-osd.ts'
import type { Tools } from './tools.ts'

export interface OsdAdding {
  readonly commands: CephCommands
  readonly layout: CephLayout
  readonly parts: CephParts
  readonly tools: Tools
}

/** Makes one more OSD on a disk of its own, as ceph-volume does: an id and a key from Ceph, then its store. It does not run yet. */
export async function addOsd({ commands, layout, parts, tools }: OsdAdding): Promise<number> {
  const uuid = randomUUID()
  const { osdid: id } = JSON.parse(await obey(commands, { prefix: 'osd new', uuid })) as { osdid: number }
  await mkdir(join(layout.path, `osd.${id}`), { recursive: true })
  const caps = Object.entries(osdCaps).flat()
  const key = await obey(commands, { prefix: 'auth get-or-create', entity: `osd.${id}`, caps, format: 'plain' })
  await appendFile(layout.keyring, `\n${key}\n`)
  await makeOsd({ id, uuid, layout, parts, tools })
  return id
}
