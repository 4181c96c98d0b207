/** Flags on the wire. */
import * as z from 'zod'
import { featureFlag, featureNames, type Feature, type FeatureFlag } from '#config/plans/features.ts'
import { featureBar, isSwitchedOn, type FeatureSettings } from '#core/plan/features.ts'
import { encoder } from '../fields/codec.ts'
import { listEncoder } from '../fields/paging.ts'

const flagShape = z
  .object({
    flag: z.enum(featureNames as [Feature, ...Feature[]]),
    enabled: z.boolean().meta({ description: 'Whether the organization can use the feature now.' }),
    on: z.boolean().meta({ description: 'Whether the flag is on, regardless of the plan.' }),
    default: z.boolean(),
    set_by: z.enum(['default', 'operator']),
    reason: z.string().meta({ description: 'The reason for the current state, in one sentence.' }),
    routes: z.array(z.string()).meta({ description: 'Path prefixes that require the flag.' }),
    tools: z.array(z.string()).meta({ description: 'Agent tools that require the flag.' }),
    screens: z.array(z.string()).meta({ description: 'Dashboard screens that require the flag.' }),
    always: z.array(z.string()).meta({ description: 'Operations and tools that stay available if the flag is off.' }),
  })
  .meta({ id: 'Flag' })

interface FlagState extends FeatureFlag {
  readonly flag: Feature
  readonly settings: FeatureSettings
}

const shownFlag = encoder(flagShape).from<FlagState>({
  enabled: ({ settings, flag }) => featureBar(settings, flag) === undefined,
  on: ({ settings, flag }) => isSwitchedOn(settings, flag),
  set_by: ({ settings, flag }) => (settings.flags?.[flag] === undefined ? 'default' : 'operator'),
  reason: reasonOf,
})

/** All flags with their state for an organization. */
export const flags = listEncoder(shownFlag).via((settings: FeatureSettings) =>
  featureNames.map((name) => ({ ...featureFlag(name), flag: name, settings })),
)

function reasonOf({ settings, flag, what }: FlagState): string {
  const bar = featureBar(settings, flag)
  if (bar === 'plan') return `${what} is not part of the plan ${settings.plan}; raise the plan.`
  if (settings.flags?.[flag] === undefined) return `${what} is ${bar ? 'off' : 'on'} by default.`
  return `${what} was turned ${bar ? 'off' : 'on'} for this organization by the operator of the service.`
}
