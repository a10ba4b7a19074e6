import type { PlantedFault } from './planted-fault.ts'

export const shells: readonly PlantedFault[] = []
