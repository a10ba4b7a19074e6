import type { Observed } from '../domain/observed.ts'
import { type AskOptions, withoutSilence } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { type OkToUpgrade, parseOkToUpgrade } from './parse-ok-to-upgrade.ts'

export interface UpgradeQuestion {
  /** A rack, chassis, host or OSD: Ceph takes nothing wider. */
  readonly bucket: string
  /** As updated OSDs report it: those that run it are passed over. */
  readonly version: string
  readonly max: number
}

/** Which OSDs of the bucket Ceph would let stop for an upgrade, from 20.2.2 on. */
export async function askOkToUpgrade(
  commands: CephCommands,
  { bucket, version, max }: UpgradeQuestion,
  options: AskOptions = {},
): Promise<Observed<OkToUpgrade>> {
  return withoutSilence(async () => {
    const command = { prefix: 'osd ok-to-upgrade', crush_bucket: bucket, ceph_version: version, max }
    return parseOkToUpgrade(await commands.run(command, options))
  })
}
