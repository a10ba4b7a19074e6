export function nodeKey(name: string): string {
  return `node/${name}`
}

export function budgetKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `pdb/${namespace}/${name}`
}
