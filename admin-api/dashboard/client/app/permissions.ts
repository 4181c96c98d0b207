/** Permissions of the user's role. Screens hide actions by them; the service enforces them. */
import { computed, type ReadonlySignal } from '@preact/signals'
import { organization, query } from './location.ts'

const role = computed(() => organization.value?.role ?? 'billing')

/** May read resources of projects. */
export const mayRead = computed(() => role.value !== 'billing')
/** May see usage, plan, invoices and amounts. */
export const maySeeBilling = computed(() => role.value === 'owner' || role.value === 'admin' || role.value === 'billing')
/** May change resources of projects and send mail. */
export const mayChange = computed(() => role.value === 'owner' || role.value === 'admin' || role.value === 'developer')
/** May change resources of the whole organization. */
export const mayAdminister = computed(() => role.value === 'owner' || role.value === 'admin')

/** Whether the address opens a creation form that the role permits. */
export const isMakingNew = (may: ReadonlySignal<boolean>): boolean => may.value && query.value.get('new') === '1'
