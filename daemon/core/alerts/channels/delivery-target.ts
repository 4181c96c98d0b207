/** Finds the target of a delivery of an alert: the chat or webhook of its channel. */
import type { SecretBox } from '../../access/secret-box.ts'
import type { DeliveryTarget, TargetSource } from '../../webhooks/sending/target.ts'
import type { ChannelBook } from '../channel-book.ts'
import { isMailed } from './alert-channel.ts'
import { requestTarget } from './channel-target.ts'

/** Delays after failed attempts: an alert is of no use a day later. */
const retryDelaysMs = [10_000, 60_000, 300_000, 1_500_000]

export const alertTarget =
  ({ secrets }: { readonly secrets: SecretBox }, book: ChannelBook): TargetSource =>
  async (_database, { organizationId, projectId, bound }, id): Promise<DeliveryTarget | undefined> => {
    const channel = await book.find(organizationId, id)
    if (!channel || isMailed(channel) || (bound && channel.projectId !== projectId)) return undefined
    const request = requestTarget(secrets, channel)
    const own = { projectId: channel.projectId, feature: 'alerts', whileOff: 'Alerts are turned off for this organization.' } as const
    return request && { ...request, ...own, retryDelaysMs, isPaused: false }
  }
