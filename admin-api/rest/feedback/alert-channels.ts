/** Alert channels, which send findings to the people of an organization. */
import { isMailed } from '#core/alerts/channels/alert-channel.ts'
import { requireAttempts, type ChannelWithSecret } from '#core/alerts/channels/channels.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Action, CallContext } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  alertChannel,
  alertChannelChanges,
  alertChannelTest,
  alertChannelWithSecret,
  newAlertChannel,
  toQuietHours,
} from '../../wire/feedback/alert-channel.ts'
import { webhookAttempt } from '../../wire/feedback/webhook.ts'
import type { RestCore } from '../rest-core.ts'

const channels = resource('/v1/alert-channels', { name: 'AlertChannel', tags: ['alerts'], feature: 'alerts', graphql: true })

/** Tests a chat whose target is new, and returns the channel with the result. A failed test is shown and refuses nothing. */
async function tested({ core, principal, signal }: CallContext<Principal, RestCore>, saved: ChannelWithSecret): Promise<ChannelWithSecret> {
  const { id, kind } = saved.channel
  if (kind === 'mail' || kind === 'members') return saved
  // the channel is stored, also if the time of the request ends before its test
  if (!signal.aborted)
    await core.channelTests.run(principal, id, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  return { ...saved, channel: await core.alertChannels.get(principal, id) }
}

export const alertChannelActions: readonly Action<RestCore>[] = [
  channels.list({
    summary: 'List alert channels, the members first, then newest first',
    item: alertChannel,
    run: ({ core, principal }, page) => core.alertChannels.list(principal, page),
  }),
  channels.read({
    summary: 'Get an alert channel',
    output: alertChannel,
    run: ({ core, principal }, { id }) => core.alertChannels.get(principal, id),
  }),
  channels.create({
    summary: 'Create an alert channel',
    description:
      'A chat or webhook gets a test alert at once; `last_test` has the result, and a failure refuses nothing. The recipient of ' +
      'a `mail` channel first gets a mail with a confirmation link, unless a member has the address. Owners and admins get a mail ' +
      'about the change.',
    errors: ['rate_limit_exceeded'],
    input: newAlertChannel,
    output: alertChannelWithSecret,
    examples: { input: { kind: 'slack', name: 'Operations', target: { url: 'https://hooks.slack.com/services/T0/B0/abc' } } },
    run: async (context, { quietHours, ...channel }) =>
      tested(context, await context.core.alertChannels.create(context.principal, { ...channel, quietHours: toQuietHours(quietHours) })),
  }),
  channels.change({
    summary: 'Update an alert channel',
    description:
      'Omitted fields keep their values. A new `target` is tested or confirmed like that of a new channel. The channel `members` ' +
      'can be turned off while another channel is on and has passed its test.',
    errors: ['not_found', 'conflict', 'rate_limit_exceeded'],
    input: alertChannelChanges,
    output: alertChannelWithSecret,
    async run(context, { id, quietHours, ...changes }) {
      const hours = quietHours === undefined ? undefined : toQuietHours(quietHours)
      const saved = await context.core.alertChannels.update(context.principal, id, { ...changes, quietHours: hours })
      return changes.target === undefined ? saved : tested(context, saved)
    },
  }),
  channels.remove({
    summary: 'Delete an alert channel with its attempts',
    feature: 'always',
    errors: ['conflict'],
    run: ({ core, principal }, { id }) => core.alertChannels.remove(principal, id),
  }),
  channels.act('test', {
    summary: 'Test an alert channel',
    description: 'Sends a test alert at once, waits up to 10 seconds, and returns the response of the receiver. A mail is queued.',
    errors: ['not_found', 'conflict', 'rate_limit_exceeded'],
    output: alertChannelTest,
    run: ({ core, principal, signal }, { id }) => core.channelTests.run(principal, id, signal),
  }),
  channels.listOf('attempts', {
    summary: 'List the alerts of a chat or webhook channel, newest first',
    description: 'An entry is one alert, regardless of the number of attempts. Mail is not listed.',
    filter: {},
    item: webhookAttempt,
    async run({ core, principal }, { id, ...page }) {
      const channel = await core.alertChannels.get(principal, id)
      if (isMailed(channel)) return { rows: [], nextCursor: undefined }
      requireAttempts(principal, channel)
      return core.webhookDeliveries.list(principal, { ...page, endpointId: id })
    },
  }),
]
