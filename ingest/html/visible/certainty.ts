/** Three-valued logic: a style reader is not a browser, and cannot decide every condition. */

export type Certainty = 'no' | 'maybe' | 'yes'

const order: readonly Certainty[] = ['no', 'maybe', 'yes']

/** The certainty that all conditions are true. */
export const allOf = (parts: readonly Certainty[]): Certainty => (parts.includes('no') ? 'no' : parts.includes('maybe') ? 'maybe' : 'yes')

/** The certainty that at least one condition is true. */
export const anyOf = (parts: readonly Certainty[]): Certainty => (parts.includes('yes') ? 'yes' : parts.includes('maybe') ? 'maybe' : 'no')

export const notThat = (certainty: Certainty): Certainty => order[2 - order.indexOf(certainty)] ?? 'maybe'

export const certainly = (holds: boolean): Certainty => (holds ? 'yes' : 'no')
