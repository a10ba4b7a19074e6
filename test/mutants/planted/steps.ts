import type { PlantedFault } from './planted-fault.ts'

export const steps: readonly PlantedFault[] = []
