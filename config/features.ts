/** Features that an organization has beyond its plan's say, each with a flag of that name. */

/** The flags, and what each is in an organization that says nothing of it. */
export const featureDefaults = { verp: true, click_tracking: true, open_tracking: true } as const satisfies Record<string, boolean>

export type Feature = keyof typeof featureDefaults
