import type { Node } from '@cofferdam/kubernetes/api/core.ts'

/** A machine that is going or gone, and what its replacement has to be like. */
export interface Vacancy {
  readonly set: string
  readonly machine: string
  readonly node: string
  /** Its Node as last seen. */
  readonly blueprint: Node | undefined
  /** The Machine that was made in its stead. */
  successor: string | undefined
}

/** A Machine that waits for its Node. */
export interface Order {
  readonly node: string
  /** Absent for a Node that is there already. */
  readonly readyAtMs: number | undefined
  readonly vacancy: Vacancy | undefined
}

/** What the makers of machines know beside the API. */
export class Fleet {
  readonly vacancies: Vacancy[] = []
  readonly #orders = new Map<string, Order>()
  readonly #unwanted = new Set<string>()

  order(machine: string): Order | undefined {
    return this.#orders.get(machine)
  }

  place(machine: string, order: Order): Order {
    this.#orders.set(machine, order)
    return order
  }

  close(machine: string): void {
    this.#orders.delete(machine)
  }

  /** Guarantees: one vacancy for one machine, however often it is reported; none for one that is not to be replaced. */
  vacate(vacancy: Omit<Vacancy, 'successor'>): void {
    if (this.#unwanted.has(vacancy.machine)) return
    if (this.vacancies.some(({ machine }) => machine === vacancy.machine)) return
    this.vacancies.push({ ...vacancy, successor: undefined })
  }

  /** Its object is there again under the same name, before anybody took its place. */
  isBack(machine: string): void {
    const open = this.vacancies.findIndex((vacancy) => vacancy.machine === machine && vacancy.successor === undefined)
    if (open >= 0) this.vacancies.splice(open, 1)
  }

  /** The machine is taken away because its set shrinks. */
  abandon(machine: string): void {
    this.#unwanted.add(machine)
  }

  /** A replacement that never came: somebody else may take its place. */
  reopen(machine: string): void {
    const vacancy = this.vacancyFilledBy(machine)
    if (vacancy !== undefined) vacancy.successor = undefined
  }

  /** Who stands in a machine's place now: its successor, or that one's. */
  heirOf(vacancy: Vacancy): string | undefined {
    const next = this.vacancies.find(({ machine }) => machine === vacancy.successor)
    return next === undefined ? vacancy.successor : this.heirOf(next)
  }

  /** The longest open vacancy of a set, now taken. */
  fill(set: string, successor: string): Vacancy | undefined {
    const open = this.vacancies.find((vacancy) => vacancy.set === set && vacancy.successor === undefined)
    if (open !== undefined) open.successor = successor
    return open
  }

  vacancyFilledBy(machine: string): Vacancy | undefined {
    return this.vacancies.find(({ successor }) => successor === machine)
  }
}
