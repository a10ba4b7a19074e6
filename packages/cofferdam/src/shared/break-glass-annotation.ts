/** Annotation on a NodeDisruption: locks of others do not count for it, until a time. */
export const breakGlassAnnotation = 'cofferdam.io/break-glass'
