/** What each plan includes. Spec "Limits". */

/** The limits of one plan; undefined means that there is none. */
export interface Plan {
  /** Accepted sends of an organization in one UTC day. */
  readonly sendsPerDay: number | undefined
  /** Sends over `sendsPerDay` are billed and not refused. Spec "Limits" 1. */
  readonly overageBilled: boolean
  /** SMTP credentials alive at the same time. Spec "Limits" 3. */
  readonly smtpCredentials: number | undefined
  /** Captured messages of a project in one calendar month. Spec "Limits" 8. */
  readonly capturesPerMonth: number | undefined
  /** Templates of an organization. Spec "Limits" 5. */
  readonly templates: number | undefined
  /** Attachments may be sent. Spec "Limits" 7. */
  readonly attachments: boolean
  /** Failed messages may be replayed in bulk. Spec "Limits" 14. */
  readonly bulkReplay: boolean
  /** Destinations may be marked organization-wide. Spec "Project rules" 6. */
  readonly orgDestinations: boolean
  /** Sends may name the time at which they leave. Spec "Limits" 7. */
  readonly scheduledSends: boolean
  /** Click and open tracking and VERP. Spec "Limits" 1. */
  readonly tracking: boolean
}

/** All plans, the smallest first. */
export const planNames = ['anonymous', 'free', 'basic', 'pro', 'enterprise'] as const

export type PlanName = (typeof planNames)[number]

export const plans: Readonly<Record<PlanName, Plan>> = {
  anonymous: {
    sendsPerDay: 100,
    overageBilled: false,
    smtpCredentials: 0,
    capturesPerMonth: undefined,
    templates: 3,
    attachments: false,
    bulkReplay: false,
    orgDestinations: false,
    scheduledSends: false,
    tracking: false,
  },
  free: {
    sendsPerDay: 100,
    overageBilled: true,
    smtpCredentials: 1,
    capturesPerMonth: 5000,
    templates: 3,
    attachments: false,
    bulkReplay: false,
    orgDestinations: false,
    scheduledSends: false,
    tracking: false,
  },
  basic: {
    sendsPerDay: 5000,
    overageBilled: false,
    smtpCredentials: 10,
    capturesPerMonth: undefined,
    templates: 3,
    attachments: false,
    bulkReplay: false,
    orgDestinations: false,
    scheduledSends: false,
    tracking: true,
  },
  pro: {
    sendsPerDay: 50_000,
    overageBilled: false,
    smtpCredentials: 100,
    capturesPerMonth: undefined,
    templates: undefined,
    attachments: true,
    bulkReplay: true,
    orgDestinations: true,
    scheduledSends: true,
    tracking: true,
  },
  enterprise: {
    sendsPerDay: undefined,
    overageBilled: false,
    smtpCredentials: undefined,
    capturesPerMonth: undefined,
    templates: undefined,
    attachments: true,
    bulkReplay: true,
    orgDestinations: true,
    scheduledSends: true,
    tracking: true,
  },
}
