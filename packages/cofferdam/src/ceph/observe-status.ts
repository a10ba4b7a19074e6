import type { Observed } from '../shared/observed.ts'
import { type AskOptions, askCeph } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { type CephStatus, parseStatus } from './parse-status.ts'

export function observeStatus(commands: CephCommands, options: AskOptions = {}): Promise<Observed<CephStatus>> {
  return askCeph(commands, { prefix: 'status' }, parseStatus, options)
}
