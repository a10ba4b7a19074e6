import { randomBytes } from 'node:crypto'

/** A user of Ceph and what it may do, by the kind of daemon that is asked. */
export interface CephUser {
  readonly name: string
  readonly key: string
  readonly caps: Readonly<Record<string, string>>
}

export function createUser(name: string, caps: CephUser['caps']): CephUser {
  return { name, key: createKey(randomBytes(16), Math.floor(Date.now() / 1_000)), caps }
}

/** As Ceph packs a key: its kind (1, AES), when it was made (seconds and nanoseconds), its length, itself. */
export function createKey(secret: Uint8Array, createdSeconds: number): string {
  const head = Buffer.alloc(12)
  head.writeUInt16LE(1, 0)
  head.writeUInt32LE(createdSeconds, 2)
  head.writeUInt16LE(secret.length, 10)
  return Buffer.concat([head, secret]).toString('base64')
}

export function keyringText(users: readonly CephUser[]): string {
  return users
    .map(({ name, key, caps }) => {
      const rights = Object.entries(caps).map(([daemon, cap]) => `\tcaps ${daemon} = "${cap.replaceAll('"', '\\"')}"\n`)
      return `[${name}]\n\tkey = ${key}\n${rights.join('')}`
    })
    .join('')
}

/** The rights that docs/ceph-drain.md asks for the operator, and no more. */
export const operatorCaps: CephUser['caps'] = {
  mon: 'allow r, allow command "osd set-group", allow command "osd unset-group"',
  mgr: 'allow r',
}

export const adminCaps: CephUser['caps'] = { mon: 'allow *', mgr: 'allow *', osd: 'allow *', mds: 'allow *' }
export const monCaps: CephUser['caps'] = { mon: 'allow *' }
export const mgrCaps: CephUser['caps'] = { mon: 'allow profile mgr', osd: 'allow *', mds: 'allow *' }
export const osdCaps: CephUser['caps'] = { mon: 'allow profile osd', mgr: 'allow profile osd', osd: 'allow *' }
