import type { Observed } from '../shared/observed.ts'
import { type AskOptions, withoutSilence } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import type { OkToUpgradeAnswer, UpgradeQuestion } from './ok-to-upgrade-answer.ts'
import { parseOkToUpgrade } from './parse-ok-to-upgrade.ts'

/** Which OSDs of the bucket Ceph would let stop for an upgrade, from 20.2.2 on. */
export async function askOkToUpgrade(
  commands: CephCommands,
  { bucket, version, max }: UpgradeQuestion,
  options: AskOptions = {},
): Promise<Observed<OkToUpgradeAnswer>> {
  return withoutSilence(async () => {
    const command = { prefix: 'osd ok-to-upgrade', crush_bucket: bucket, ceph_version: version, max }
    return parseOkToUpgrade(await commands.run(command, options))
  })
}
