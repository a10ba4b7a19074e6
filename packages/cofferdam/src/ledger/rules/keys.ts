export function nodeKey(name: string): string {
  return `node/${name}`
}

const budgetPrefix = 'pdb/'

export function budgetKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${budgetPrefix}${namespace}/${name}`
}

/** The budget behind a ledger key, as `namespace/name`; undefined for a key of something else. */
export function budgetOf(key: string): string | undefined {
  return key.startsWith(budgetPrefix) ? key.slice(budgetPrefix.length) : undefined
}
