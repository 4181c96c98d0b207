/**
 * Calculates the invoice of an organization independently: it records events day by day and adds up a month with plain numbers. It uses
 * only the specification ("Limits") and no code of the service.
 */

export type NotedPlan = 'free' | 'basic' | 'pro' | 'enterprise'

const fee = { free: 0, basic: 1000, pro: 4900, enterprise: 0 }
/** The rank that decides between two plans on the same day or in the same month. */
const rank = { free: 0, basic: 1, pro: 2, enterprise: 3 }
const daily = { free: 100, basic: 5000, pro: 50_000, enterprise: Infinity }
/** On plan enterprise nothing with a price is included. */
const tracesIncluded = { free: 1000, basic: 50_000, pro: 500_000, enterprise: 0 }
const loginsIncluded = { free: 1, basic: 10, pro: 100, enterprise: 0 }
/** Rappen. Other counts are free. */
const prices: Readonly<Record<string, number>> = {
  ...{ sources: 350, inspect_tests: 10, traces_stored: 0.1, smtp_credentials: 100, team_orgs: 50 },
}

interface Day {
  readonly date: string
  readonly plans: NotedPlan[]
  /** By project. */
  readonly sends: number[]
  /** By project. Counts existing resources. */
  stored: readonly number[]
  readonly events: Map<string, number>
  /** The maximum of the day, by project at the time when the maximum was first reached. */
  readonly most: Map<string, readonly number[]>
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)
const dearest = (plans: readonly NotedPlan[]): NotedPlan => plans.toSorted((a, b) => rank[b] - rank[a])[0] ?? 'free'

export class Notebook {
  readonly days: Day[] = []
  /** Individual prices in millionths of a rappen, with the first month in which they apply. */
  readonly own: { readonly axis: string; readonly from: string; readonly urp: number }[] = []
  plan: NotedPlan = 'free'
  readonly alive = new Map<string, readonly number[]>()
  vatBasisPoints = 810

  /** Begins a day, with the plan of the evening before unless it changes with the day. */
  begin(date: string, plan = this.plan): Day {
    this.plan = plan
    const day = { date, plans: [plan], sends: [0, 0], stored: this.days.at(-1)?.stored ?? [], events: new Map(), most: new Map(this.alive) }
    this.days.push(day)
    return day
  }

  get today(): Day {
    const day = this.days.at(-1)
    if (!day) throw new Error('no day has begun')
    return day
  }

  change(plan: NotedPlan): void {
    this.plan = plan
    this.today.plans.push(plan)
  }

  keeps(what: string, alive: readonly number[]): void {
    this.alive.set(what, alive)
    if (sum(alive) > sum(this.today.most.get(what) ?? [])) this.today.most.set(what, alive)
  }

  /** Returns the maximum in a month, by project. */
  most(month: string, what: string): readonly number[] {
    const days = this.days.filter(({ date }) => date.startsWith(month)).map(({ most }) => most.get(what) ?? [])
    return days.reduce((most, day) => (sum(day) > sum(most) ? day : most), [])
  }

  /** Returns rappen by line, each rounded half up. A double holds every sum of a month exactly. */
  lines(month: string): Map<string, number> {
    const days = this.days.filter(({ date }) => date.startsWith(month))
    const [year = 0, number = 0] = month.split('-').map(Number)
    const all = new Date(Date.UTC(year, number, 0)).getUTCDate()
    const lines = new Map<string, number>()
    for (const plan of ['free', 'basic', 'pro', 'enterprise'] as const) {
      const on = days.filter(({ plans }) => dearest(plans) === plan).length
      if (on > 0) lines.set(`fee ${plan}`, Math.round((fee[plan] * on) / all))
    }
    const plan = dearest(days.flatMap(({ plans }) => plans))
    const charge = (axis: string, quantity: number): void => {
      const own = this.own.filter((price) => price.axis === axis && price.from <= month).at(-1)
      const last = this.own.filter((price) => price.axis === axis && price.from === own?.from).at(-1)
      const urp = last?.urp ?? (plan === 'enterprise' ? 0 : (prices[axis] ?? 0) * 1_000_000)
      lines.set(axis, Math.round((Math.max(0, quantity) * Math.round(urp)) / 1_000_000))
    }
    for (const axis of ['inspect_tests', 'captures', 'team_orgs', 'vi_notifies'])
      charge(axis, sum(days.map(({ events }) => events.get(axis) ?? 0)))
    for (const [axis, included] of [['sources', 0] as const, ['smtp_credentials', loginsIncluded[plan]] as const])
      charge(axis, sum(this.most(month, axis)) - included)
    charge('traces_stored', Math.round(sum(days.map(({ stored }) => sum(stored))) / all) - tracesIncluded[plan])
    charge('sends_overage', sum(days.map((day) => this.beyond(day))))
    return lines
  }

  /** Returns the sends above the daily limit; only plan free bills them. */
  beyond({ plans, sends }: Day): number {
    return plans.includes('free') ? Math.max(0, sum(sends) - Math.max(...plans.map((plan) => daily[plan]))) : 0
  }

  total(month: string): { readonly net: number; readonly vat: number } {
    const net = sum([...this.lines(month).values()])
    return { net, vat: Math.round((net * this.vatBasisPoints) / 10_000) }
  }
}
