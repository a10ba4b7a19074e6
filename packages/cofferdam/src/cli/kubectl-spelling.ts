import type { Option } from 'commander'

/**
 * Rewrites arguments that are spelled as for kubectl into what commander reads: `--force=false`, `--wait=false` where there is
 * `--no-wait`, and a flag with an optional value that stands alone. The last of several counts.
 */
export function fromKubectlSpelling(options: readonly Option[], args: readonly string[]): string[] {
  let read: string[] = []
  const drop = (flag: string | undefined) => {
    read = read.filter((each) => each !== flag)
  }
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string
    if (arg === '--') return [...read, ...args.slice(index)]
    const option = options.find(({ long, short }) => long === arg || short === arg)
    if (option?.required === true) {
      read.push(...args.slice(index, index + 2))
      index += 1
      continue
    }
    // Else the name of a node after it would be taken for its value.
    if (option?.optional === true && typeof option.presetArg === 'string') {
      read.push(`${option.long}=${option.presetArg}`)
      continue
    }
    const [, name, value] = /^--([a-z][a-z-]*)(?:=(true|false))?$/.exec(arg) ?? []
    const negated = options.find(({ negate, long }) => negate && long === `--no-${name}`)?.long
    const plain = options.find((each) => each.long === `--${name}` && each.isBoolean())?.long
    if (name === undefined || option !== undefined || (plain === undefined && negated === undefined)) {
      read.push(arg)
      continue
    }
    drop(plain)
    drop(negated)
    const meant = value === 'false' ? negated : plain
    if (meant !== undefined) read.push(meant)
  }
  return read
}
