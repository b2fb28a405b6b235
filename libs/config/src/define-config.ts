import type { ValueOf, Variable } from './variable.js';

type Variables = Readonly<Record<string, Variable<unknown>>>;

/** A rule over several values. Checked when each of its variables is valid by itself. */
export interface Relation<Values> {
  /** The names of the environment variables that the rule is about. */
  readonly variables: readonly string[];
  holds(values: Values): boolean;
  /** The whole rule as a sentence without its full stop. */
  readonly rule: string;
}

/** Variables of one concern, and the rules between them. */
export interface Slice<V extends Variables = Variables> {
  readonly title: string;
  readonly variables: V;
  readonly relations: readonly Relation<ValuesOf<V>>[];
}

export type ValuesOf<V extends Variables> = { readonly [Property in keyof V]: ValueOf<V[Property]> };

/** What code receives for a slice. */
export type SliceValues<S> = S extends Slice<infer V> ? ValuesOf<V> : never;

type Slices = Readonly<Record<string, Slice>>;

/** The whole configuration of a service. */
export interface ConfigDefinition<S extends Slices = Slices> {
  readonly slices: S;
  readonly relations: readonly Relation<ConfigValues<S>>[];
}

type ConfigValues<S extends Slices> = { readonly [Name in keyof S]: SliceValues<S[Name]> };

/** What `parseConfig` returns for a definition. */
export type ConfigOf<D> = D extends ConfigDefinition<infer S> ? ConfigValues<S> : never;

export function defineSlice<const V extends Variables>(
  title: string,
  variables: V,
  relations: readonly Relation<ValuesOf<V>>[] = [],
): Slice<V> {
  return { title, variables, relations };
}

/** Composes a service's configuration from slices, with the rules that cross them. */
export function defineConfig<const S extends Slices>(
  slices: S,
  relations: readonly Relation<ConfigValues<S>>[] = [],
): ConfigDefinition<S> {
  return { slices, relations };
}
