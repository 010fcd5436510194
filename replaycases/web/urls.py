"""URLs of the pages. They are nouns; a change of state is a POST to a sub-resource."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, register_converter
from django.views.generic import RedirectView

from replaycases.web.converters import CaseIdConverter, ProjectKeyConverter
from replaycases.web.views import (
    account,
    cases,
    comparisons,
    controls,
    implementations,
    lanes,
    notifications,
    people,
    promotions,
    proposals,
    revisions,
    runs,
)

register_converter(CaseIdConverter, "case_id")
register_converter(ProjectKeyConverter, "project_key")

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="case_list"), name="home"),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/", account.account, name="account"),
    path("account/tokens/", account.create_token, name="token_list"),
    path("account/tokens/<uuid:pk>/revocation/", account.revoke_token, name="token_revocation"),
    path("account/password/", account.PasswordChange.as_view(), name="password_change"),
    path("password-reset/", account.PasswordReset.as_view(), name="password_reset"),
    path("password-reset/sent/", account.PasswordResetDone.as_view(), name="password_reset_done"),
    path("password-reset/<uidb64>/<token>/", account.PasswordResetConfirm.as_view(), name="password_reset_confirm"),
    path("notifications/", notifications.notification_list, name="notification_list"),
    path("notifications/reading/", notifications.reading_all, name="notification_reading_all"),
    path("notifications/<uuid:pk>/reading/", notifications.reading, name="notification_reading"),
    path("cases/", cases.case_list, name="case_list"),
    path("cases/new/", cases.new_case, name="new_case"),
    path("cases/<case_id:case_id>/", cases.case_detail, name="case"),
    path("cases/<case_id:case_id>/comparisons/", comparisons.request_comparison, name="comparison_list"),
    path("cases/<case_id:case_id>/comparisons/<int:number>/", comparisons.comparison_detail, name="comparison"),
    path(
        "cases/<case_id:case_id>/comparisons/<int:number>/cancellation/",
        comparisons.cancel_comparison,
        name="comparison_cancellation",
    ),
    path("cases/<case_id:case_id>/controls/", controls.add_control, name="control_list"),
    path("cases/<case_id:case_id>/revisions/<int:number>/document/", revisions.document, name="revision_document"),
    path("cases/<case_id:case_id>/promotion/", promotions.promotion, name="case_promotion"),
    path("cases/<case_id:case_id>/history/", promotions.history, name="case_history"),
    path("cases/<case_id:case_id>/demotion/", promotions.demotion, name="case_demotion"),
    path("cases/<case_id:case_id>/retirement/", promotions.retirement, name="case_retirement"),
    path("cases/<case_id:case_id>/overrides/", promotions.overrides, name="case_overrides"),
    path("lanes/", lanes.lane_list, name="lane_list"),
    path("lanes/<project_key:key>/<slug:name>/", lanes.lane_detail, name="lane"),
    path("lanes/<project_key:key>/<slug:name>/policy/", lanes.policy, name="lane_policy"),
    path("lanes/<project_key:key>/<slug:name>/promotion/", lanes.bulk_promotion, name="lane_promotion"),
    path("proposals/", proposals.proposal_list, name="proposal_list"),
    path("proposals/<uuid:pk>/confirmation/", proposals.confirm, name="proposal_confirmation"),
    path("proposals/<uuid:pk>/refusal/", proposals.decline, name="proposal_refusal"),
    path("proposals/<uuid:pk>/withdrawal/", proposals.withdraw, name="proposal_withdrawal"),
    path("runs/", runs.run_list, name="run_list"),
    path("runs/<project_key:key>/<int:number>/", runs.run_detail, name="run"),
    path("runs/<project_key:key>/<int:number>/manifest/", runs.manifest, name="run_manifest"),
    path("runs/<project_key:key>/<int:number>/voiding/", runs.void_set, name="run_voiding"),
    path("implementations/", implementations.implementation_list, name="implementation_list"),
    path("implementations/new/", implementations.new_implementation, name="new_implementation"),
    path("implementations/<uuid:pk>/", implementations.implementation_detail, name="implementation"),
    path("people/", people.project_list, name="project_list"),
    path("people/<project_key:key>/", people.project_people, name="people"),
    path("people/<project_key:key>/roles/", people.grant_role, name="role_list"),
    path("people/<project_key:key>/roles/<int:pk>/revocation/", people.revoke_role, name="role_revocation"),
    path("people/<project_key:key>/tokens/<uuid:pk>/revocation/", people.revoke_token, name="members_token_revocation"),
    path("people/<project_key:key>/settings/", people.edit_settings, name="project_settings"),
    path("people/<project_key:key>/owners/", people.owners, name="owners"),
    path("people/<project_key:key>/teams/", people.create_team, name="team_list"),
    path("people/<project_key:key>/teams/<uuid:pk>/", people.team_detail, name="team"),
    path("people/<project_key:key>/teams/<uuid:pk>/name/", people.rename_team, name="team_name"),
    path("people/<project_key:key>/teams/<uuid:pk>/members/", people.set_team_members, name="team_members"),
    path("people/<project_key:key>/invitations/", people.invite, name="invitation_list"),
    path(
        "people/<project_key:key>/invitations/<uuid:pk>/revocation/",
        people.revoke_invitation,
        name="invitation_revocation",
    ),
    path("invitations/", people.accept_invitation, name="invitation"),
    path("invitations/<secret>/", people.open_invitation, name="invitation_link"),
]
