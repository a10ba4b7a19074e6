import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'

/** Why a name is none of the nodes that may stand there, and which was probably meant. */
export function notANode(name: string, known: readonly string[], what = 'a node'): string {
  const near = closestName(name, known)
  return `"${name}" is not ${what}${near === undefined ? `; known: ${known.join(', ')}` : `; did you mean "${near}"?`}`
}
