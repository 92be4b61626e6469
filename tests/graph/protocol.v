(** The invalidation protocol of `stagecache.graph`, and a proof: a valid entry has the value that a
    computation from the variables gives.

    Check it with `coqc tests/graph/protocol.v`; `tests/graph/test_protocol.py` does, and also checks that
    no axiom is used. The last section has the theorems. docs/explanation/how_it_works.md says in words what
    is proved, and what the model leaves out. *)

Require Import List Arith Lia Bool.
Import ListNotations.

Section Protocol.

(** * Graphs

    Nodes are numbers, and what a node depends on has smaller ones (`Structure.add`). *)

Definition node := nat.
Variable value : Type.
Variable is_variable : node -> bool.
Variable is_compared : node -> bool.            (* declared with equal=...: `Structure.compared` *)
Variable prerequisites : node -> list node.     (* `Structure.prerequisites` *)
Hypothesis above_first : forall n p, In p (prerequisites n) -> p < n.
Hypothesis source : forall x, is_variable x = true -> prerequisites x = [].
Hypothesis compared_entry : forall n, is_compared n = true -> is_variable n = false.

(** Each entry has a compute function, and its comparison if it is compared. Values that are found equal
    need not be identical: `alike` is an equivalence that functions respect. *)
Variable compute : node -> list value -> value.
Variable equal : node -> value -> value -> bool.
Variable alike : value -> value -> Prop.
Hypothesis alike_refl : forall v, alike v v.
Hypothesis alike_sym : forall v w, alike v w -> alike w v.
Hypothesis alike_trans : forall u v w, alike u v -> alike v w -> alike u w.
Hypothesis equal_alike : forall n v w, equal n v w = true -> alike v w.
Hypothesis compute_alike : forall n vs ws, Forall2 alike vs ws -> alike (compute n vs) (compute n ws).

(** The value of a node from the variables alone. Recursion goes up; more steps than the number of the
    node are never needed. *)
Fixpoint recompute_in (steps : nat) (variables : node -> value) (n : node) : value :=
  match steps with
  | 0 => variables n
  | S fewer =>
      if is_variable n then variables n
      else compute n (map (recompute_in fewer variables) (prerequisites n))
  end.
Definition recompute variables n := recompute_in (S n) variables n.

(** True if `x` is upstream of `n`, or is `n`. *)
Fixpoint reaches_in (steps : nat) (x n : node) : bool :=
  match steps with
  | 0 => false
  | S fewer => (x =? n) || existsb (reaches_in fewer x) (prerequisites n)
  end.
Definition reaches x n := reaches_in (S n) x n.

(** Compared entries upstream of `n`, as far as a path leads down from them that has no other compared
    entry on it. *)
Inductive cause : node -> node -> Prop :=
| cause_direct n c : In c (prerequisites n) -> is_compared c = true -> cause n c
| cause_plain n p c : In p (prerequisites n) -> is_compared p = false -> cause p c -> cause n c.

(** * Stores

    One graph at one moment. `Store` has the same lists; its gates are by group (see what is left out). *)

Record store := {
  clock : nat;                    (* `Store.clock` *)
  content : node -> value;        (* `Store.values` *)
  mark : node -> option nat;      (* `Store.marks`, the verified-at; None for a negative mark *)
  gate : node -> nat;             (* `Store.gates`, the changed-at *)
  changed : node -> nat;          (* `Store.changed`: since when a compared entry has its value *)
  version : node -> nat;          (* `Store.versions` *)
  highest : node -> nat           (* `Store.rewound`: the highest version that was ever given *)
}.

(** `Store.is_valid`: the one comparison that decides. *)
Definition valid (s : store) (n : node) : Prop :=
  exists m, mark s n = Some m /\ gate s n <= m.

(** A read finds a value: of a variable, or of a valid entry. *)
Definition ready s n : Prop := is_variable n = true \/ valid s n.

Definition set {A} (f : node -> A) (n : node) (a : A) : node -> A :=
  fun k => if k =? n then a else f k.

(** `Variable.set`: the clock goes on, the gates downstream rise. An equal value is not looked at. *)
Definition write (x : node) (v : value) (s : store) : store := {|
  clock := S (clock s);
  content := set (content s) x v;
  mark := mark s;
  gate := fun n => if reaches x n then S (clock s) else gate s n;
  changed := changed s;
  version := set (version s) x (S (highest s x));
  highest := set (highest s) x (S (highest s x)) |}.

(** `Store.invalidate`: the entry and all downstream of it lose their marks. *)
Definition invalidate (x : node) (s : store) : store := {|
  clock := S (clock s);
  content := content s;
  mark := fun n => if reaches x n then None else mark s n;
  gate := gate s;
  changed := changed s;
  version := version s;
  highest := highest s |}.

(** `Evaluator.evaluate`, once the prerequisites are ready: the value is new... *)
Definition result s n := compute n (map (content s) (prerequisites n)).
Definition take (n : node) (s : store) : store := {|
  clock := clock s;
  content := set (content s) n (result s n);
  mark := set (mark s) n (Some (clock s));
  gate := gate s;
  changed := set (changed s) n (clock s);
  version := set (version s) n (S (highest s n));
  highest := set (highest s) n (S (highest s n)) |}.

(** ... or, in `Evaluator._evaluate_compared`, the old one stays: it is equal, or nothing upstream has
    changed. *)
Definition keep (n : node) (s : store) : store := {|
  clock := clock s;
  content := content s;
  mark := set (mark s) n (Some (clock s));
  gate := gate s;
  changed := changed s;
  version := version s;
  highest := highest s |}.

(** `Evaluator._is_as_it_was`: the gate is lowered to `t`, the mark of the entry that is read. *)
Definition lower (n : node) (t : nat) (s : store) : store := {|
  clock := clock s;
  content := content s;
  mark := mark s;
  gate := set (gate s) n t;
  changed := changed s;
  version := version s;
  highest := highest s |}.

(** The condition for that: no variable and no other entry above has a later gate, and compared entries
    above are valid and have had their values since. *)
Definition unchanged_since (s : store) (n : node) (t : nat) : Prop :=
  t <= clock s /\
  forall p, In p (prerequisites n) ->
    if is_compared p then valid s p /\ changed s p <= t else gate s p <= t.

(** `rollback.restore`: all is as it was, but the clock goes on, and no version is given again. *)
Definition restore (saved s : store) : store := {|
  clock := S (clock s);
  content := content saved;
  mark := mark saved;
  gate := gate saved;
  changed := changed saved;
  version := version saved;
  highest := highest s |}.

(** * Steps *)

Inductive step : store -> store -> Prop :=
| step_write s x v : is_variable x = true -> step s (write x v s)
| step_invalidate s x : is_variable x = false -> step s (invalidate x s)
| step_take s n : is_variable n = false -> (forall p, In p (prerequisites n) -> ready s p) ->
    step s (take n s)
| step_equal s n m : is_variable n = false -> (forall p, In p (prerequisites n) -> ready s p) ->
    mark s n = Some m -> equal n (content s n) (result s n) = true -> step s (keep n s)
| step_verify s n : is_variable n = false -> valid s n -> step s (keep n s)
| step_lower s n t : is_variable n = false -> t <= gate s n -> unchanged_since s n t ->
    step s (lower n t s).

(** A graph has a store and its checkpoints, the last one first; a world has graphs. A checkpoint is a
    whole store here, and a `Journal` of what has changed since in the code. *)
Definition graph := (store * list store)%type.

Inductive graph_step : graph -> graph -> Prop :=
| graph_store s s' saved : step s s' -> graph_step (s, saved) (s', saved)
| graph_checkpoint s saved : graph_step (s, saved) (s, s :: saved)
| graph_rollback s later chosen earlier :
    graph_step (s, later ++ chosen :: earlier) (restore chosen s, chosen :: earlier)
| graph_release s later chosen earlier :
    graph_step (s, later ++ chosen :: earlier) (s, later ++ earlier).

Inductive world_step : list graph -> list graph -> Prop :=
| world_graph others1 others2 g g' : graph_step g g' ->
    world_step (others1 ++ g :: others2) (others1 ++ g' :: others2)
| world_copy w s saved : In (s, saved) w -> world_step w (w ++ [(s, [])]).

(** A new graph: each variable has its first value, and nothing is computed. *)
Definition new (s : store) : Prop :=
  clock s = 0 /\ (forall n, mark s n = None) /\ (forall n, gate s n = 0) /\
  (forall n, version s n = highest s n).

Inductive reachable : list graph -> Prop :=
| reachable_new s : new s -> reachable [(s, [])]
| reachable_step w w' : reachable w -> world_step w w' -> reachable w'.

(** * Lemmas about graphs *)

Lemma recompute_steps : forall variables k n, n < k ->
  recompute_in k variables n = recompute variables n.
Proof.
  intros variables k. induction k as [k IH] using lt_wf_ind. intros n Hn.
  destruct k as [|k]; [lia|]. unfold recompute. simpl.
  destruct (is_variable n); [reflexivity|]. f_equal. apply map_ext_in. intros p Hp.
  pose proof (above_first _ _ Hp).
  rewrite (IH k) by lia. destruct (Nat.eq_dec n k) as [->|].
  - symmetry. apply IH; lia.
  - symmetry. apply IH; lia.
Qed.

Lemma recompute_eq : forall variables n, recompute variables n =
  if is_variable n then variables n
  else compute n (map (recompute variables) (prerequisites n)).
Proof.
  intros. unfold recompute at 1. simpl. destruct (is_variable n); [reflexivity|].
  f_equal. apply map_ext_in. intros p Hp. apply recompute_steps. now apply above_first.
Qed.

Lemma reaches_steps : forall x k n, n < k -> reaches_in k x n = reaches x n.
Proof.
  intros x k. induction k as [k IH] using lt_wf_ind. intros n Hn.
  destruct k as [|k]; [lia|]. unfold reaches. simpl. f_equal.
  assert (H : forall p, In p (prerequisites n) -> reaches_in k x p = reaches_in n x p).
  { intros p Hp. pose proof (above_first _ _ Hp). rewrite (IH k) by lia.
    destruct (Nat.eq_dec n k) as [->|]; symmetry; apply IH; lia. }
  induction (prerequisites n) as [|p ps IHps]; [reflexivity|]. simpl.
  rewrite H by now left. rewrite IHps; [reflexivity|]. intros q Hq. apply H. now right.
Qed.

Lemma reaches_self : forall x, reaches x x = true.
Proof. intros. unfold reaches. simpl. now rewrite Nat.eqb_refl. Qed.

Lemma reaches_down : forall x n p, In p (prerequisites n) -> reaches x p = true -> reaches x n = true.
Proof.
  intros x n p Hp H. unfold reaches. simpl. apply orb_true_intro. right.
  apply existsb_exists. exists p. split; [assumption|].
  rewrite reaches_steps; [assumption|]. now apply above_first.
Qed.

Lemma reaches_cause : forall x n c, cause n c -> reaches x c = true -> reaches x n = true.
Proof. intros x n c H. induction H; intros; eapply reaches_down; try eassumption; auto. Qed.

Lemma recompute_same : forall before after, (forall x, is_variable x = true -> before x = after x) ->
  forall n, recompute before n = recompute after n.
Proof.
  intros before after H n. induction n as [n IH] using lt_wf_ind.
  rewrite !recompute_eq. destruct (is_variable n) eqn:E; [now apply H|].
  f_equal. apply map_ext_in. intros p Hp. apply IH. now apply above_first.
Qed.

Lemma recompute_write : forall variables x v n, reaches x n = false ->
  recompute (set variables x v) n = recompute variables n.
Proof.
  intros variables x v n. induction n as [n IH] using lt_wf_ind. intros H.
  rewrite !recompute_eq. destruct (is_variable n).
  - unfold set. destruct (n =? x) eqn:E; [|reflexivity].
    apply Nat.eqb_eq in E. subst. rewrite reaches_self in H. discriminate.
  - f_equal. apply map_ext_in. intros p Hp. apply IH; [now apply above_first|].
    destruct (reaches x p) eqn:E; [|reflexivity].
    rewrite (reaches_down _ _ _ Hp E) in H. discriminate.
Qed.

Lemma compute_map : forall n (f g : node -> value),
  (forall p, In p (prerequisites n) -> alike (f p) (g p)) ->
  alike (compute n (map f (prerequisites n))) (compute n (map g (prerequisites n))).
Proof.
  intros n f g H. apply compute_alike.
  induction (prerequisites n) as [|p ps IH]; simpl; constructor.
  - apply H. now left.
  - apply IH. intros q Hq. apply H. now right.
Qed.

(** * The invariant

    `past t` is what the variables were at clock `t`, and `known c t` says that the compared entry `c` was
    valid at some moment of clock `t`. Neither is stored anywhere: they exist in the proof only. After a
    rollback, the past is as if nothing had happened since the checkpoint, but that the clock went on. *)

Definition now s n := recompute (content s) n.

Record invariant (s : store) (past : nat -> node -> value) (known : node -> nat -> Prop) : Prop := {
  inv_present : forall x, is_variable x = true -> past (clock s) x = content s x;
  inv_clock : forall n, gate s n <= clock s;
  (* A value belongs to its mark, and compared entries above were valid then. *)
  inv_mark : forall n m, is_variable n = false -> mark s n = Some m ->
    m <= clock s /\ alike (content s n) (recompute (past m) n) /\ forall c, cause n c -> known c m;
  (* Since its gate, a node has not changed, at any clock at which what cuts it was valid. *)
  inv_gate : forall n t, gate s n <= t -> t <= clock s -> (forall c, cause n c -> known c t) ->
    alike (recompute (past t) n) (now s n);
  (* A compared entry has its value since `changed`. *)
  inv_changed : forall c m t, is_compared c = true -> mark s c = Some m -> changed s c <= t ->
    t <= clock s -> known c t -> alike (recompute (past t) c) (content s c);
  (* Where an entry has a mark, its prerequisites have. *)
  inv_above : forall n p, mark s n <> None -> In p (prerequisites n) -> is_variable p = false ->
    mark s p <> None;
  (* Below a compared entry that has become stale, gates are up. *)
  inv_stale : forall n c t, cause n c -> known c t -> gate s n <= t -> t <= clock s ->
    mark s c = None \/ valid s c;
  inv_valid : forall n c, is_variable n = false -> valid s n -> cause n c -> valid s c
}.

(** What is valid now counts as known. *)
Definition noted s (known : node -> nat -> Prop) : Prop :=
  forall c, is_compared c = true -> valid s c -> known c (clock s).
Definition good s : Prop := exists past known, invariant s past known /\ noted s known.

Lemma cause_compared : forall n c, cause n c -> is_compared c = true.
Proof. intros n c H. induction H; assumption. Qed.

Lemma valid_right : forall s past known, invariant s past known ->
  forall n, is_variable n = false -> valid s n -> alike (content s n) (now s n).
Proof.
  intros s past known I n E [m [Hm Hg]].
  destruct (inv_mark _ _ _ I n m E Hm) as [Hc [Hv Hk]].
  eapply alike_trans; [exact Hv|]. now apply (inv_gate _ _ _ I).
Qed.

Lemma ready_right : forall s past known, invariant s past known ->
  forall n, ready s n -> alike (content s n) (now s n).
Proof.
  intros s past known I n [E|V].
  - unfold now. rewrite recompute_eq, E. apply alike_refl.
  - destruct (is_variable n) eqn:E.
    + unfold now. rewrite recompute_eq, E. apply alike_refl.
    + eapply valid_right; eassumption.
Qed.

Lemma result_right : forall s past known n, invariant s past known -> is_variable n = false ->
  (forall p, In p (prerequisites n) -> ready s p) -> alike (result s n) (now s n).
Proof.
  intros s past known n I E H. unfold result, now. rewrite recompute_eq, E.
  apply compute_map. intros p Hp. eapply ready_right; [eassumption|auto].
Qed.

Lemma cause_below : forall n c, cause n c -> c < n.
Proof.
  intros n c H. induction H as [n c Hc _|n p c Hp _ _ IH].
  - now apply above_first.
  - pose proof (above_first _ _ Hp). lia.
Qed.

Lemma mark_of_cause : forall s past known, invariant s past known ->
  forall n c, cause n c -> mark s n <> None -> mark s c <> None.
Proof.
  intros s past known I n c H. induction H as [n c Hc E|n p c Hp E H IH]; intros Hm.
  - apply (inv_above _ _ _ I) with n; auto.
  - apply IH. apply (inv_above _ _ _ I) with n; try assumption.
    destruct (is_variable p) eqn:V; [|reflexivity].
    inversion H; subst; rewrite (source _ V) in *; contradiction.
Qed.

Lemma causes_valid : forall s past known n, invariant s past known ->
  (forall p, In p (prerequisites n) -> ready s p) -> forall c, cause n c -> valid s c.
Proof.
  intros s past known n I H c Hc. inversion Hc as [k c' Hp E|k p c' Hp E Hpc]; subst.
  - destruct (H _ Hp) as [V|]; [|assumption]. rewrite (compared_entry _ E) in V. discriminate.
  - destruct (H _ Hp) as [V|V].
    + inversion Hpc; subst; rewrite (source _ V) in *; contradiction.
    + apply (inv_valid _ _ _ I p c); try assumption. destruct (is_variable p) eqn:W; [|reflexivity].
      inversion Hpc; subst; rewrite (source _ W) in *; contradiction.
Qed.

Lemma present : forall s past known, invariant s past known ->
  forall n, recompute (past (clock s)) n = now s n.
Proof. intros s past known I n. apply recompute_same. apply (inv_present _ _ _ I). Qed.

Lemma set_same : forall A (f : node -> A) n a, set f n a n = a.
Proof. intros. unfold set. now rewrite Nat.eqb_refl. Qed.

Lemma set_other : forall A (f : node -> A) n a k, k <> n -> set f n a k = f k.
Proof. intros. unfold set. now rewrite (proj2 (Nat.eqb_neq k n)). Qed.

Lemma different : forall n x, is_variable n = false -> is_variable x = true -> n <> x.
Proof. intros n x H1 H2 E. subst. rewrite H1 in H2. discriminate. Qed.

Lemma note : forall s past known, invariant s past known -> good s.
Proof.
  intros s past known I. exists past, (fun c t => known c t \/ (t = clock s /\ valid s c)). split.
  - constructor.
    + apply (inv_present _ _ _ I).
    + apply (inv_clock _ _ _ I).
    + intros n m E Hm. destruct (inv_mark _ _ _ I n m E Hm) as (?&?&?). auto.
    + intros n t Hg Ht Hk. destruct (Nat.eq_dec t (clock s)) as [->|Hn].
      * rewrite (present _ _ _ I). apply alike_refl.
      * apply (inv_gate _ _ _ I); try assumption.
        intros c Hc. destruct (Hk c Hc) as [|[? _]]; [assumption|contradiction].
    + intros c m t E Hm Hc Ht [Hk|[-> V]]; [now apply (inv_changed _ _ _ I) with m|].
      rewrite (present _ _ _ I). apply alike_sym.
      eapply valid_right; [eassumption|now apply compared_entry|assumption].
    + apply (inv_above _ _ _ I).
    + intros n c t Hc [Hk|[-> V]] Hg Ht; [now apply (inv_stale _ _ _ I) with n t|now right].
    + apply (inv_valid _ _ _ I).
  - intros c _ V. right. split; [reflexivity|assumption].
Qed.

(** * Each step preserves the invariant *)

Definition extended (s : store) (past : nat -> node -> value) (next : node -> value) :=
  fun t => if t <=? clock s then past t else next.

Lemma extended_old : forall s past next t, t <= clock s -> extended s past next t = past t.
Proof. intros. unfold extended. now rewrite (proj2 (Nat.leb_le _ _)). Qed.

Lemma extended_new : forall s past next t, clock s < t -> extended s past next t = next.
Proof. intros. unfold extended. now rewrite (proj2 (Nat.leb_gt _ _)). Qed.

Lemma good_write : forall s x v, is_variable x = true -> good s -> good (write x v s).
Proof.
  intros s x v Ex (past & known & I & _).
  apply note with (past := extended s past (set (content s) x v))
                  (known := fun c t => known c t /\ t <= clock s).
  constructor; simpl.
  - intros y Ey. rewrite extended_new by lia. reflexivity.
  - intros n. pose proof (inv_clock _ _ _ I n). destruct (reaches x n); lia.
  - intros n m E Hm. destruct (inv_mark _ _ _ I n m E Hm) as (H1&H2&H3).
    split; [lia|]. rewrite extended_old, set_other by (assumption || now apply different).
    split; [assumption|]. auto.
  - intros n t Hg Ht Hk. destruct (Nat.eq_dec t (S (clock s))) as [->|Hn].
    + rewrite extended_new by lia. apply alike_refl.
    + destruct (reaches x n) eqn:R; [lia|]. rewrite extended_old by lia.
      unfold now. simpl. rewrite recompute_write by assumption.
      apply (inv_gate _ _ _ I); [assumption|lia|]. intros c Hc. now apply Hk.
  - intros c m t E Hm Hc _ [Hk Ht]. rewrite extended_old by assumption.
    rewrite set_other by (apply different; [now apply compared_entry|assumption]).
    now apply (inv_changed _ _ _ I) with m.
  - apply (inv_above _ _ _ I).
  - intros n c t Hc [Hk Ht] Hg _. destruct (reaches x n) eqn:R; [lia|].
    destruct (inv_stale _ _ _ I n c t Hc Hk Hg Ht) as [|(m&Hm&Hv)]; [now left|right].
    exists m. simpl. split; [assumption|]. destruct (reaches x c) eqn:Rc; [|assumption].
    rewrite (reaches_cause _ _ _ Hc Rc) in R. discriminate.
  - intros n c E (m&Hm&Hv) Hc. simpl in *.
    destruct (inv_mark _ _ _ I n m E Hm) as (Hl&_). destruct (reaches x n) eqn:R; [lia|].
    destruct (inv_valid _ _ _ I n c E) as (k&Hk&Hw); [now exists m|assumption|].
    exists k. simpl. split; [assumption|]. destruct (reaches x c) eqn:Rc; [|assumption].
    rewrite (reaches_cause _ _ _ Hc Rc) in R. discriminate.
Qed.

Lemma good_invalidate : forall s x, good s -> good (invalidate x s).
Proof.
  intros s x (past & known & I & _).
  apply note with (past := extended s past (content s))
                  (known := fun c t => known c t /\ t <= clock s).
  constructor; simpl.
  - intros y Ey. rewrite extended_new by lia. reflexivity.
  - intros n. pose proof (inv_clock _ _ _ I n). lia.
  - intros n m E Hm. destruct (reaches x n); [discriminate|].
    destruct (inv_mark _ _ _ I n m E Hm) as (H1&H2&H3).
    split; [lia|]. rewrite extended_old by assumption. auto.
  - intros n t Hg Ht Hk. destruct (Nat.eq_dec t (S (clock s))) as [->|Hn].
    + rewrite extended_new by lia. apply alike_refl.
    + rewrite extended_old by lia. apply (inv_gate _ _ _ I); [assumption|lia|].
      intros c Hc. now apply Hk.
  - intros c m t E Hm Hc _ [Hk Ht]. destruct (reaches x c); [discriminate|].
    rewrite extended_old by assumption. now apply (inv_changed _ _ _ I) with m.
  - intros n p Hn Hp E. destruct (reaches x n) eqn:R; [contradiction|].
    destruct (reaches x p) eqn:Rp; [|now apply (inv_above _ _ _ I) with n].
    rewrite (reaches_down _ _ _ Hp Rp) in R. discriminate.
  - intros n c t Hc [Hk Ht] Hg _. destruct (reaches x c) eqn:R; [now left|].
    destruct (inv_stale _ _ _ I n c t Hc Hk Hg Ht) as [|(m&Hm&Hv)]; [now left|right].
    exists m. simpl. now rewrite R.
  - intros n c E (m&Hm&Hv) Hc. simpl in *. destruct (reaches x n) eqn:R; [discriminate|].
    destruct (inv_valid _ _ _ I n c E) as (k&Hk&Hw); [now exists m|assumption|].
    exists k. simpl. destruct (reaches x c) eqn:Rc; [|now split].
    rewrite (reaches_cause _ _ _ Hc Rc) in R. discriminate.
Qed.

(** A value gets a mark: a new one, or the one that was there. *)
Lemma good_marked : forall s n v since ver high, is_variable n = false -> good s ->
  (forall c, cause n c -> valid s c) ->
  (forall p, In p (prerequisites n) -> is_variable p = false -> mark s p <> None) ->
  alike v (now s n) ->
  since = clock s \/ (v = content s n /\ since = changed s n /\ mark s n <> None) ->
  good {| clock := clock s; content := set (content s) n v; mark := set (mark s) n (Some (clock s));
          gate := gate s; changed := set (changed s) n since; version := ver; highest := high |}.
Proof.
  intros s n v since ver high E (past & known & I & N) Hcauses Habove Hv Hsince.
  assert (Hnow : forall k, recompute (set (content s) n v) k = now s k).
  { intros k. apply recompute_same. intros y Ey. apply set_other. intro. subst.
    rewrite E in Ey. discriminate. }
  match goal with |- good ?t => set (s' := t) end.
  assert (Hvalid : forall c, valid s c -> valid s' c).
  { intros c (m&Hm&Hg). unfold valid. simpl. destruct (Nat.eq_dec c n) as [->|D].
    - rewrite set_same. exists (clock s). split; [reflexivity|]. apply (inv_clock _ _ _ I).
    - rewrite set_other by assumption. now exists m. }
  apply note with (past := past) (known := known). constructor; simpl.
  - intros y Ey. rewrite set_other; [now apply (inv_present _ _ _ I)|].
    intro. subst. rewrite E in Ey. discriminate.
  - apply (inv_clock _ _ _ I).
  - intros k m Ek. destruct (Nat.eq_dec k n) as [->|D].
    + rewrite !set_same. intros [= <-]. split; [lia|]. split.
      * rewrite (present _ _ _ I). assumption.
      * intros c Hc. apply N; [eapply cause_compared; eassumption|auto].
    + rewrite !set_other by assumption. now apply (inv_mark _ _ _ I).
  - intros k t. unfold now at 1. simpl. rewrite Hnow. apply (inv_gate _ _ _ I).
  - intros c m t Ec. destruct (Nat.eq_dec c n) as [->|D].
    + rewrite !set_same. intros _ Hc Ht Hk. destruct Hsince as [->|(->&->&Hm)].
      * assert (t = clock s) as -> by lia. rewrite (present _ _ _ I). now apply alike_sym.
      * destruct (mark s n) as [m'|] eqn:Em; [|contradiction].
        now apply (inv_changed _ _ _ I) with m'.
    + rewrite !set_other by assumption. now apply (inv_changed _ _ _ I).
  - intros k p Hk Hp Ep. destruct (Nat.eq_dec p n) as [->|D]; [now rewrite set_same|].
    rewrite set_other by assumption. destruct (Nat.eq_dec k n) as [->|D']; [auto|].
    rewrite set_other in Hk by assumption. now apply (inv_above _ _ _ I) with k.
  - intros k c t Hc Hk Hg Ht.
    destruct (inv_stale _ _ _ I k c t Hc Hk Hg Ht) as [Hm|]; [|right; auto].
    destruct (Nat.eq_dec c n) as [->|D].
    + right. exists (clock s). simpl. rewrite set_same. split; [reflexivity|].
      apply (inv_clock _ _ _ I).
    + left. now rewrite set_other.
  - intros k c Ek (m&Hm&Hg) Hc. apply Hvalid. simpl in *.
    destruct (Nat.eq_dec k n) as [->|D]; [auto|].
    rewrite set_other in Hm by assumption. apply (inv_valid _ _ _ I) with k; try assumption.
    now exists m.
Qed.

Lemma ready_marked : forall s n, (forall p, In p (prerequisites n) -> ready s p) ->
  forall p, In p (prerequisites n) -> is_variable p = false -> mark s p <> None.
Proof.
  intros s n H p Hp E. destruct (H p Hp) as [V|(m&Hm&_)].
  - rewrite E in V. discriminate.
  - now rewrite Hm.
Qed.

Lemma good_take : forall s n, is_variable n = false ->
  (forall p, In p (prerequisites n) -> ready s p) -> good s -> good (take n s).
Proof.
  intros s n E H G. pose proof G as (past & known & I & _). apply good_marked; auto.
  - eapply causes_valid; eassumption.
  - now apply ready_marked.
  - eapply result_right; eassumption.
Qed.

Lemma good_same : forall s s', clock s = clock s' -> (forall n, content s n = content s' n) ->
  (forall n, mark s n = mark s' n) -> (forall n, gate s n = gate s' n) ->
  (forall n, changed s n = changed s' n) -> good s -> good s'.
Proof.
  intros s s' Hclock Hcontent Hmark Hgate Hchanged (past & known & I & N).
  assert (V : forall n, valid s n <-> valid s' n).
  { intros n. unfold valid. now rewrite Hmark, Hgate. }
  assert (Hnow : forall n, now s n = now s' n).
  { intros n. apply recompute_same. auto. }
  exists past, known. split.
  - constructor.
    + intros x Ex. rewrite <- Hclock, <- Hcontent. now apply (inv_present _ _ _ I).
    + intros n. rewrite <- Hgate, <- Hclock. apply (inv_clock _ _ _ I).
    + intros n m. rewrite <- Hmark, <- Hclock, <- Hcontent. apply (inv_mark _ _ _ I).
    + intros n t. rewrite <- Hgate, <- Hclock, <- Hnow. apply (inv_gate _ _ _ I).
    + intros c m t. rewrite <- Hmark, <- Hchanged, <- Hclock, <- Hcontent.
      apply (inv_changed _ _ _ I).
    + intros n p. rewrite <- !Hmark. apply (inv_above _ _ _ I).
    + intros n c t. rewrite <- Hgate, <- Hclock, <- Hmark, <- V. apply (inv_stale _ _ _ I).
    + intros n c. rewrite <- !V. apply (inv_valid _ _ _ I).
  - intros c Ec. rewrite <- V, <- Hclock. auto.
Qed.

Lemma good_keep : forall s n m, is_variable n = false -> good s -> mark s n = Some m ->
  (forall c, cause n c -> valid s c) ->
  (forall p, In p (prerequisites n) -> is_variable p = false -> mark s p <> None) ->
  alike (content s n) (now s n) -> good (keep n s).
Proof.
  intros s n m E G Hm Hcauses Habove Hv.
  assert (G' := good_marked s n (content s n) (changed s n) (version s) (highest s) E G Hcauses
                  Habove Hv).
  eapply good_same; [..|apply G'; right; rewrite Hm; now repeat split]; try reflexivity;
    intros k; simpl; unfold set; destruct (k =? n) eqn:K; try reflexivity;
    apply Nat.eqb_eq in K; now subst.
Qed.

Lemma good_lower : forall s n t, is_variable n = false -> t <= gate s n -> unchanged_since s n t ->
  good s -> good (lower n t s).
Proof.
  intros s n t E Hlow [Hclock Hcond] (past & known & I & N).
  assert (Hcmp : forall p, In p (prerequisites n) -> is_compared p = true ->
                 valid s p /\ changed s p <= t).
  { intros p Hp Ep. specialize (Hcond p Hp). now rewrite Ep in Hcond. }
  assert (Hpln : forall p, In p (prerequisites n) -> is_compared p = false -> gate s p <= t).
  { intros p Hp Ep. specialize (Hcond p Hp). now rewrite Ep in Hcond. }
  assert (Hvalid : forall c, valid s c -> valid (lower n t s) c).
  { intros c (m&Hm&Hg). exists m. simpl. split; [assumption|]. unfold set.
    destruct (c =? n) eqn:D; [|assumption]. apply Nat.eqb_eq in D. subst. lia. }
  assert (Hstale : forall c u, cause n c -> known c u -> t <= u -> u <= clock s ->
                   mark s c = None \/ valid s c).
  { intros c u Hc Hk Hu Hu'. inversion Hc as [k c' Hp Ec|k p c' Hp Ep Hpc]; subst.
    - right. now apply Hcmp.
    - apply (inv_stale _ _ _ I) with p u; try assumption. specialize (Hpln p Hp Ep). lia. }
  apply note with (past := past) (known := known). constructor; simpl.
  - apply (inv_present _ _ _ I).
  - intros k. unfold set. destruct (k =? n); [assumption|]. apply (inv_clock _ _ _ I).
  - apply (inv_mark _ _ _ I).
  - intros k u Hg Hu Hk. change (now (lower n t s) k) with (now s k).
    destruct (Nat.eq_dec k n) as [->|D].
    + rewrite set_same in Hg. unfold now. rewrite !recompute_eq, E.
      apply compute_map. intros p Hp. destruct (is_compared p) eqn:Ep.
      * destruct (Hcmp p Hp Ep) as [V Hc]. pose proof V as (m&Hm&_).
        eapply alike_trans.
        -- apply (inv_changed _ _ _ I) with m; try eassumption; [lia|].
           apply Hk. now apply cause_direct.
        -- eapply valid_right; [eassumption|now apply compared_entry|assumption].
      * apply (inv_gate _ _ _ I); [|assumption|].
        -- specialize (Hpln p Hp Ep). lia.
        -- intros c Hc. apply Hk. now apply cause_plain with p.
    + rewrite set_other in Hg by assumption. now apply (inv_gate _ _ _ I).
  - apply (inv_changed _ _ _ I).
  - apply (inv_above _ _ _ I).
  - intros k c u Hc Hk Hg Hu. assert (mark s c = None \/ valid s c) as [|]; [|now left|right; auto].
    destruct (Nat.eq_dec k n) as [->|D].
    + rewrite set_same in Hg. now apply Hstale with u.
    + rewrite set_other in Hg by assumption. now apply (inv_stale _ _ _ I) with k u.
  - intros k c Ek (m&Hm&Hg) Hc. simpl in *. apply Hvalid.
    destruct (Nat.eq_dec k n) as [->|D].
    + rewrite set_same in Hg. destruct (inv_mark _ _ _ I n m E Hm) as (Hl&_&Hk).
      destruct (Hstale c m Hc (Hk c Hc) Hg Hl) as [Hnone|]; [|assumption].
      exfalso. revert Hnone. apply (mark_of_cause _ _ _ I n c Hc). now rewrite Hm.
    + rewrite set_other in Hg by assumption. apply (inv_valid _ _ _ I) with k; try assumption.
      now exists m.
Qed.

(** A rollback: nothing but the clock differs from the checkpoint. *)
Lemma good_restore : forall saved s, clock saved <= clock s -> good saved -> good (restore saved s).
Proof.
  intros saved s Hclock (past & known & I & _).
  apply note with (past := extended saved past (content saved))
                  (known := fun c t => known c t /\ t <= clock saved).
  constructor; simpl.
  - intros y Ey. rewrite extended_new by lia. reflexivity.
  - intros n. pose proof (inv_clock _ _ _ I n). lia.
  - intros n m E Hm. destruct (inv_mark _ _ _ I n m E Hm) as (H1&H2&H3).
    split; [lia|]. rewrite extended_old by assumption. auto.
  - intros n t Hg Ht Hk. destruct (le_lt_dec t (clock saved)).
    + rewrite extended_old by assumption. apply (inv_gate _ _ _ I); try assumption.
      intros c Hc. now apply Hk.
    + rewrite extended_new by assumption. apply alike_refl.
  - intros c m t E Hm Hc _ [Hk Ht]. rewrite extended_old by assumption.
    now apply (inv_changed _ _ _ I) with m.
  - apply (inv_above _ _ _ I).
  - intros n c t Hc [Hk Ht] Hg _. now apply (inv_stale _ _ _ I) with n t.
  - apply (inv_valid _ _ _ I).
Qed.

Lemma good_step : forall s s', step s s' -> good s -> good s'.
Proof.
  intros s s' H G. destruct H as [s x v E|s x E|s n E R|s n m E R Hm Q|s n E V|s n t E L U].
  - now apply good_write.
  - now apply good_invalidate.
  - now apply good_take.
  - pose proof G as (past & known & I & _). apply good_keep with m; try assumption.
    + eapply causes_valid; eassumption.
    + now apply ready_marked.
    + eapply alike_trans; [eapply equal_alike; eassumption|]. eapply result_right; eassumption.
  - pose proof G as (past & known & I & _). pose proof V as (m&Hm&_).
    apply good_keep with m; try assumption.
    + intros c Hc. now apply (inv_valid _ _ _ I) with n.
    + intros p Hp Ep. apply (inv_above _ _ _ I) with n; try assumption. now rewrite Hm.
    + eapply valid_right; eassumption.
  - now apply good_lower.
Qed.

Lemma step_clock : forall s s', step s s' -> clock s <= clock s'.
Proof. intros s s' H. destruct H; simpl; lia. Qed.

Lemma good_new : forall s, new s -> good s.
Proof.
  intros s (_&Hm&Hg&_). apply note with (past := fun _ => content s) (known := fun _ _ => False).
  constructor; unfold valid; intros; repeat rewrite Hg in *; repeat rewrite Hm in *;
    try discriminate; try contradiction; try lia; try reflexivity.
  - apply alike_refl.
  - destruct H0 as (m&H0&_). discriminate.
Qed.

(** * Versions *)

Lemma step_versions : forall s s' n, step s s' ->
  (version s' n = version s n /\ content s' n = content s n /\ highest s' n = highest s n) \/
  (highest s n < version s' n /\ highest s' n = version s' n).
Proof.
  intros s s' n H. destruct H as [s x v _|s x _|s k _ _|s k m _ _ _ _|s k _ _|s k t _ _ _]; simpl;
    try (left; repeat split; reflexivity).
  - unfold set. destruct (Nat.eqb_spec n x) as [->|]; [right; lia|auto].
  - unfold set. destruct (Nat.eqb_spec n k) as [->|]; [right; lia|auto].
Qed.

Lemma step_highest : forall s s' n, step s s' -> highest s n <= highest s' n.
Proof. intros s s' n H. destruct (step_versions s s' n H) as [(_&_&->)|(?&->)]; lia. Qed.

(** * Graphs and worlds *)

Definition bounded (top s : store) : Prop := forall n, version s n <= highest top n.
Definition good_graph (g : graph) : Prop :=
  good (fst g) /\ bounded (fst g) (fst g) /\
  Forall (fun saved => good saved /\ clock saved <= clock (fst g) /\ bounded (fst g) saved) (snd g).

Lemma good_graph_step : forall g g', graph_step g g' -> good_graph g -> good_graph g'.
Proof.
  intros g g' H (G & B & F). destruct H; simpl in *; unfold good_graph; simpl.
  - pose proof (step_clock _ _ H). split; [now apply good_step with s|]. split.
    + intros n. destruct (step_versions _ _ n H) as [(->&_&->)|(_&->)]; [apply B|lia].
    + eapply Forall_impl; [|exact F]. simpl. intros each (?&?&Hb). split; [assumption|].
      split; [lia|]. intros n. specialize (Hb n). pose proof (step_highest _ _ n H). lia.
  - split; [assumption|]. split; [assumption|]. constructor; auto.
  - apply Forall_app in F. destruct F as [_ F]. inversion F as [|c l (Gc&Hc&Bc) F']; subst.
    split; [now apply good_restore|]. split; [exact Bc|]. constructor.
    + repeat split; auto.
    + eapply Forall_impl; [|exact F']. simpl. intros each (?&?&?). repeat split; auto.
  - apply Forall_app in F. destruct F as [F1 F]. inversion F; subst.
    split; [assumption|]. split; [assumption|]. apply Forall_app. now split.
Qed.

Lemma good_world : forall w, reachable w -> Forall good_graph w.
Proof.
  intros w H. induction H as [s Hs|w w' _ IH H].
  - constructor; [|constructor]. split; [now apply good_new|]. split; [|constructor].
    intros n. destruct Hs as (_&_&_&Hv). simpl. now rewrite Hv.
  - destruct H as [others1 others2 g g' H|w s saved H].
    + apply Forall_app in IH. destruct IH as [F1 F]. inversion F; subst.
      apply Forall_app. split; [assumption|]. constructor; [|assumption].
      now apply good_graph_step with g.
    + apply Forall_app. split; [assumption|]. constructor; [|constructor].
      rewrite Forall_forall in IH. destruct (IH _ H) as (?&?&_).
      split; [assumption|]. split; [assumption|constructor].
Qed.

(** * Theorems *)

(** A valid entry has the value that a computation from the variables gives, in each graph that can be
    reached: by writes, invalidations, reads in any order, checkpoints, rollbacks and copies. *)
Theorem valid_entries_are_right : forall w s saved n,
  reachable w -> In (s, saved) w -> is_variable n = false -> valid s n ->
  alike (content s n) (recompute (content s) n).
Proof.
  intros w s saved n R H E V. apply good_world in R. rewrite Forall_forall in R.
  destruct (R _ H) as ((past & known & I & _) & _). eapply valid_right; eassumption.
Qed.

(** No version number is given twice: that of a new value is above all that the node ever had, also
    above those that a rollback took back. *)
Theorem versions_are_new : forall w s saved s' n,
  reachable w -> In (s, saved) w -> step s s' ->
  version s n <= highest s n /\ highest s n <= highest s' n /\
  ((version s' n = version s n /\ content s' n = content s n) \/ highest s n < version s' n).
Proof.
  intros w s saved s' n R H S. apply good_world in R. rewrite Forall_forall in R.
  destruct (R _ H) as (_ & B & _). split; [apply B|]. split; [now apply step_highest|].
  destruct (step_versions _ _ n S) as [(?&?&_)|(?&_)]; auto.
Qed.

End Protocol.

Print Assumptions valid_entries_are_right.
Print Assumptions versions_are_new.
