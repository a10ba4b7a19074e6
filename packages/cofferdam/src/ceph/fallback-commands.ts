import type { CephCommands } from './ceph-commands.ts'
import { cephUnreachable, clientMissing, isClientMissing } from './ceph-unreachable.ts'

export interface CephClient {
  /** For reports: `python3-rados`, `the ceph command line`. */
  readonly name: string
  readonly commands: CephCommands
}

/**
 * Asks through the first client that is installed, and stays with it.
 *
 * A Ceph that does not answer is no reason to change: it would not answer another client either, and the wait would double.
 */
export function createFallbackCommands(
  clients: readonly CephClient[],
  options: { readonly report?: (change: { readonly missing: string; readonly why: string }) => void } = {},
): CephCommands {
  let usable = clients
  return {
    run: (command, limits) => viaFirst((commands) => commands.run(command, limits)),
    followLog: (follow) =>
      viaFirst(
        ({ followLog }) =>
          followLog?.(follow) ?? Promise.reject(cephUnreachable('log', 'this client cannot follow it')),
      ),
  }

  async function viaFirst<T>(ask: (commands: CephCommands) => Promise<T>): Promise<T> {
    for (let client = usable[0]; client !== undefined; client = usable[0]) {
      try {
        return await ask(client.commands)
      } catch (error) {
        if (!isClientMissing(error)) throw error
        const { name } = client
        // Another command may have found out in the meantime.
        if (usable[0] === client) {
          usable = usable.slice(1)
          options.report?.({ missing: name, why: error.message })
        }
      }
    }
    usable = clients
    const names = clients.map(({ name }) => name).join(', ')
    throw clientMissing(
      names,
      `Ceph cannot be asked: none of ${names} is installed`,
      'install python3-rados or ceph-common',
    )
  }
}
