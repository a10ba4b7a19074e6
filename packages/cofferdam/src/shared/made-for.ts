/** Names the tool that a request was made for. */
export const madeForLabel = 'cofferdam.io/made-for'
/** Names the object of that tool which asks for it, as in `nodemaintenance/rack-2`. */
export const askedByAnnotation = 'cofferdam.io/asked-by'
