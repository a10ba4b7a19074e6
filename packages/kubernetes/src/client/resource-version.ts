const wellFormed = /^[1-9][0-9]*$/

/**
 * Less than 0, 0 or more than 0, as the first is older than, the same as or newer than the second; undefined when they
 * cannot be compared.
 *
 * Kubernetes long called these versions opaque; since 1.35 it promises that they are decimal integers which grow, within
 * one resource. They may exceed what a number holds, so they are compared as text. Servers that extend the API may use
 * anything else: then nothing can be said, and callers must do what is safe.
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0
  if (!wellFormed.test(left) || !wellFormed.test(right)) return undefined
  if (left.length !== right.length) return left.length - right.length
  return left < right ? -1 : 1
}
