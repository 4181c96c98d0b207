/** Pending alerts of credits that are nearly used up: rows in the write that used the credits. */
import { decode, encode, type Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import type { Bytes } from '#store/kv.ts'
import type { Element } from '#store/tuple.ts'

/** One row for each organization whose members are not yet notified, with the used share in percent. */
export const creditAlertPrefix = globalKey('credit.alert')
/** Announces a new row; see `Database.onWork`. */
export const creditAlertWork = 'credit.alert'

export const creditAlertKey = (organizationId: string): readonly Element[] => [...creditAlertPrefix, organizationId]

/** Adds an alert to the write; it replaces an earlier alert that is still pending. */
export const noteAlert = (change: Change, organizationId: string, percent: number): Change =>
  change.set(creditAlertKey(organizationId), encode(percent)).schedule(creditAlertWork, organizationId)

export const alertPercentOf = (value: Bytes): number => decode<number>(value)
