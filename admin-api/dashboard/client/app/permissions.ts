/** What the own role allows, as far as screens show it as possible; the service decides. */
import { computed, type ReadonlySignal } from '@preact/signals'
import { organization, query } from './location.ts'

const role = computed(() => organization.value?.role ?? 'billing')

/** Reads what belongs to projects. */
export const mayRead = computed(() => role.value !== 'billing')
/** Sees usage, the plan and invoices, and what they come to. */
export const maySeeBilling = computed(() => role.value === 'owner' || role.value === 'admin' || role.value === 'billing')
/** Changes what belongs to projects, and sends. */
export const mayChange = computed(() => role.value === 'owner' || role.value === 'admin' || role.value === 'developer')
/** Changes what belongs to the whole organization. */
export const mayAdminister = computed(() => role.value === 'owner' || role.value === 'admin')

/** The address asks for something new, which the role may make. */
export const isMakingNew = (may: ReadonlySignal<boolean>): boolean => may.value && query.value.get('new') === '1'
