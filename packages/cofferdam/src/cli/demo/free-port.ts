import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/** A port that was asked for by its number, or the first free one from a number on. */
export type PortChoice = number | { readonly from: number }

const triedPorts = 50

/** Listens where the choice allows it. A port that was named and is taken is an error of `listen`. */
export async function listenOn<T>(choice: PortChoice, listen: (port: number) => Promise<T>): Promise<T> {
  if (typeof choice === 'number') return listen(choice)
  for (let port = choice.from; port < choice.from + triedPorts; port += 1) {
    try {
      return await listen(port)
    } catch (error) {
      if (!(error instanceof CofferdamError) || error.code !== 'PORT_IN_USE') throw error
    }
  }
  return listen(0)
}
