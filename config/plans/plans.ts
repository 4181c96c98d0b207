/** Limits of each plan. Spec "Limits". */

/** Limits of one plan; undefined means unlimited. */
export interface Plan {
  /** Per month, in rappen, without VAT. Undefined: by contract. */
  readonly monthlyFeeRappen: number | undefined
  /** Accepted sends of an organization in one UTC day. */
  readonly sendsPerDay: number | undefined
  /** Sends, traces and SMTP credentials above the limits are billed, not refused. Spec "Limits" 1. */
  readonly overageBilled: boolean
  /** Stored traces of an organization. Beyond the limit, the oldest settled traces are deleted. */
  readonly tracesStored: number | undefined
  /** Days after which settled traces are deleted. */
  readonly retentionDays: number | undefined
  /** SMTP credentials alive at the same time. Spec "Limits" 3. */
  readonly smtpCredentials: number | undefined
  /** Team organizations alive at the same time. Spec "Limits" 3. */
  readonly teamOrganizations: number | undefined
  /** Captured messages of a project in one calendar month. Spec "Limits" 8. */
  readonly capturesPerMonth: number | undefined
  /** Templates of an organization. Spec "Limits" 5. */
  readonly templates: number | undefined
  /** Submissions of all forms of an organization in one UTC day. */
  readonly formSubmissionsPerDay: number | undefined
  /** MiB of stored files from forms; 0 refuses files. Spec "Public forms". */
  readonly formFileMebibytes: number | undefined
  /** MiB of stored mail from inbound routes. Beyond the limit, the oldest delivered mail is deleted. */
  readonly inboundMebibytes: number | undefined
  /** Whether attachments may be sent. Spec "Limits" 7. */
  readonly attachments: boolean
  /** Whether failed messages may be replayed in bulk. Spec "Limits" 14. */
  readonly bulkReplay: boolean
  /** Whether destinations may be marked organization-wide. Spec "Project rules" 6. */
  readonly orgDestinations: boolean
  /** Whether projects may have partitions. Spec "Project rules" 9. */
  readonly subProjects: boolean
  /** Whether sends may be scheduled. Spec "Limits" 7. */
  readonly scheduledSends: boolean
  /** Whether click tracking, open tracking and VERP may be used. Spec "Limits" 1. */
  readonly tracking: boolean
}

/** All plans, the smallest first. */
export const planNames = ['anonymous', 'free', 'basic', 'pro', 'enterprise'] as const

export type PlanName = (typeof planNames)[number]

/** Numeric limits. */
export const countedLimits = [
  'monthlyFeeRappen',
  'sendsPerDay',
  'tracesStored',
  'retentionDays',
  'smtpCredentials',
  'teamOrganizations',
  'capturesPerMonth',
  'templates',
  'formSubmissionsPerDay',
  'formFileMebibytes',
  'inboundMebibytes',
] as const satisfies readonly (keyof Plan)[]

/** Limits that are yes or no. */
export const includedFeatures = [
  'overageBilled',
  'attachments',
  'bulkReplay',
  'orgDestinations',
  'subProjects',
  'scheduledSends',
  'tracking',
] as const satisfies readonly (keyof Plan)[]

export type IncludedFeature = (typeof includedFeatures)[number]

/** Limits of an organization that replace limits of its plan; -1 means unlimited. */
export type PlanOverrides = { readonly [Limit in (typeof countedLimits)[number]]?: number | undefined } & {
  readonly [Limit in IncludedFeature]?: boolean | undefined
}

const small = {
  templates: 3,
  attachments: false,
  bulkReplay: false,
  orgDestinations: false,
  subProjects: false,
  scheduledSends: false,
}
const large = {
  overageBilled: false,
  capturesPerMonth: undefined,
  templates: undefined,
  attachments: true,
  bulkReplay: true,
  orgDestinations: true,
  subProjects: true,
  scheduledSends: true,
  tracking: true,
}

export const plans: Readonly<Record<PlanName, Plan>> = {
  anonymous: {
    ...small,
    monthlyFeeRappen: 0,
    sendsPerDay: 100,
    overageBilled: false,
    tracesStored: 100,
    retentionDays: 7,
    smtpCredentials: 0,
    teamOrganizations: 0,
    capturesPerMonth: undefined,
    tracking: false,
    formSubmissionsPerDay: 100,
    formFileMebibytes: 0,
    inboundMebibytes: 64,
  },
  free: {
    ...small,
    monthlyFeeRappen: 0,
    sendsPerDay: 100,
    overageBilled: true,
    tracesStored: 1000,
    retentionDays: 7,
    smtpCredentials: 1,
    teamOrganizations: 0,
    capturesPerMonth: 5000,
    tracking: false,
    formSubmissionsPerDay: 1000,
    formFileMebibytes: 0,
    inboundMebibytes: 256,
  },
  basic: {
    ...small,
    monthlyFeeRappen: 1000,
    sendsPerDay: 5000,
    overageBilled: false,
    tracesStored: 50_000,
    retentionDays: 30,
    smtpCredentials: 10,
    teamOrganizations: 1,
    capturesPerMonth: undefined,
    tracking: true,
    formSubmissionsPerDay: 10_000,
    formFileMebibytes: 1024,
    inboundMebibytes: 2048,
  },
  pro: {
    ...large,
    monthlyFeeRappen: 4900,
    sendsPerDay: 50_000,
    tracesStored: 500_000,
    retentionDays: 90,
    smtpCredentials: 100,
    teamOrganizations: 100,
    formSubmissionsPerDay: 100_000,
    formFileMebibytes: 10_240,
    inboundMebibytes: 20_480,
  },
  enterprise: {
    ...large,
    monthlyFeeRappen: undefined,
    sendsPerDay: undefined,
    tracesStored: undefined,
    retentionDays: undefined,
    smtpCredentials: undefined,
    teamOrganizations: undefined,
    formSubmissionsPerDay: undefined,
    formFileMebibytes: undefined,
    inboundMebibytes: undefined,
  },
}
