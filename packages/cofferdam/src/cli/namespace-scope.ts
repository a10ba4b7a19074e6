import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Command } from 'commander'
import type { GlobalFlags } from './command.ts'

export interface ScopeFlags {
  readonly allNamespaces?: boolean
}

export function addScopeFlag(command: Command): Command {
  return command.option('-A, --all-namespaces', 'all namespaces, which is the default without -n')
}

/**
 * The namespace that is asked about; undefined: all of them.
 *
 * @throws CofferdamError USAGE
 */
export function askedNamespace({
  namespace,
  allNamespaces,
}: Pick<GlobalFlags, 'namespace'> & ScopeFlags): string | undefined {
  if (allNamespaces === true && namespace !== undefined) {
    throw new CofferdamError('USAGE', `-A and -n ${namespace} contradict each other: use one of them`)
  }
  return namespace
}
