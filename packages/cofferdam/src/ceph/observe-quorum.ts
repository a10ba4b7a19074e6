import type { Observed } from '../shared/observed.ts'
import { type AskOptions, askCeph } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { type MonQuorum, parseQuorum } from './parse-quorum.ts'

export function observeQuorum(commands: CephCommands, options: AskOptions = {}): Promise<Observed<MonQuorum>> {
  return askCeph(commands, { prefix: 'quorum_status' }, parseQuorum, options)
}
