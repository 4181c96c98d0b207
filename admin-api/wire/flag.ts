/** Flags on the wire. */
import * as z from 'zod'
import { featureFlag, featureNames, type Feature } from '#config/features.ts'
import { featureBar, isSwitchedOn, type FeatureSettings } from '#core/features.ts'

export const flagShape = z
  .object({
    flag: z.enum(featureNames as [Feature, ...Feature[]]),
    enabled: z.boolean().meta({ description: 'Whether the organization may use the feature now.' }),
    on: z.boolean().meta({ description: 'Whether the flag is on, whatever the plan includes.' }),
    default: z.boolean(),
    set_by: z.enum(['default', 'operator']),
    reason: z.string().meta({ description: 'Why it is so, in one sentence.' }),
    routes: z.array(z.string()).meta({ description: 'Beginnings of paths that need the flag.' }),
    tools: z.array(z.string()).meta({ description: 'Agent tools that need the flag.' }),
    screens: z.array(z.string()).meta({ description: 'Dashboard screens that need the flag.' }),
    always: z.array(z.string()).meta({ description: 'Operations and tools that stay when it is off.' }),
  })
  .meta({ id: 'Flag' })

/** Every flag of the registry, as it is for an organization. */
export const wireFlags = (settings: FeatureSettings): z.input<typeof flagShape>[] =>
  featureNames.map((flag) => {
    const { default: byDefault, routes, tools, screens, always } = featureFlag(flag)
    return {
      flag,
      enabled: featureBar(settings, flag) === undefined,
      on: isSwitchedOn(settings, flag),
      default: byDefault,
      set_by: settings.flags?.[flag] === undefined ? 'default' : 'operator',
      reason: reasonOf(settings, flag),
      routes: [...routes],
      tools: [...tools],
      screens: [...screens],
      always: [...always],
    }
  })

function reasonOf(settings: FeatureSettings, flag: Feature): string {
  const { what } = featureFlag(flag)
  const bar = featureBar(settings, flag)
  if (bar === 'plan') return `${what} is not part of the plan ${settings.plan}; raise the plan.`
  if (settings.flags?.[flag] === undefined) return `${what} is ${bar ? 'off' : 'on'} unless the operator of the service says otherwise.`
  return `${what} was switched ${bar ? 'off' : 'on'} for this organization by the operator of the service.`
}
