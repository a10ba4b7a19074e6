import type { TextStyle } from '../shared/paint.ts'

/**
 * What commands and the page show of a capability: a field of `status -o json`, lines of `status`, a panel of the page, and a part of
 * `explain node/NAME`. Data and text are apart, so that whoever asks for JSON gets just what the lines are made from.
 */
export interface ShownDefinition<Ports, Seen, Data, Answer> {
  /** In `-o json`; also the id of its panel. */
  readonly field: string
  /** Heads its lines. */
  readonly title: string
  /** Reads and decides as the operator does. Undefined: there is nothing of it in this cluster. */
  readonly read: (ports: Ports) => Promise<Seen | undefined>
  /** As plain data, of the whole cluster. Undefined: nothing. */
  readonly summarize: (seen: Seen) => Data | undefined
  /** What is worth saying now: groups of lines, each headed by the title. */
  readonly lines: (data: Data, style: TextStyle) => readonly (readonly string[])[]
  /** What it says about one node. */
  readonly node?: {
    /** As plain data. Undefined: nothing. */
    readonly answer: (seen: Seen, nodeName: string) => Answer | undefined
    readonly lines: (answer: Answer, style: TextStyle) => readonly string[]
  }
}

/** The same without the types of its own, so that different ones fit into one list. */
export type Shown<Ports> = ShownDefinition<Ports, unknown, unknown, unknown>

/** Assumes: each part is only given what another part of the same value has made, if need be through JSON. */
export function shown<Ports, Seen, Data, Answer = never>(
  definition: ShownDefinition<Ports, Seen, Data, Answer>,
): Shown<Ports> {
  return definition as unknown as Shown<Ports>
}
