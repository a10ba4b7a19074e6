const nodePrefix = 'node/'

export function nodeKey(name: string): string {
  return `${nodePrefix}${name}`
}

/** The node behind a ledger key; undefined for a key of something else. */
export function nodeOf(key: string): string | undefined {
  return key.startsWith(nodePrefix) ? key.slice(nodePrefix.length) : undefined
}

const budgetPrefix = 'pdb/'

export function budgetKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${budgetPrefix}${namespace}/${name}`
}

/** The budget behind a ledger key; undefined for a key of something else. */
export function parseBudgetKey(key: string): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace = '', name = ''] = budgetOf(key)?.split('/') ?? []
  return namespace === '' || name === '' ? undefined : { namespace, name }
}

/** The same, as `namespace/name`. */
export function budgetOf(key: string): string | undefined {
  return key.startsWith(budgetPrefix) ? key.slice(budgetPrefix.length) : undefined
}
